// Calls of SIMCom modems: +CLCC by itself, VOICE CALL, and samples that AT+CPCMREG=1 switches on during a call.
import { type Answer, CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import { type CommandContext, commandFamily, forms } from '../behaviors/behavior.ts';
import { listCalls } from '../behaviors/calls.ts';
import { causeText } from '../calls/cause.ts';
import { NETWORK_OFFSET_QUARTER_HOURS } from '../carrier/numbering.ts';
import { type CallLines, type MakeVoice, USUAL_VOICE } from '../voice/make-voice.ts';
import { clccLine } from '../voice/modem-call.ts';

/** <volte>,<non-volte> of +CPCMBANDWIDTH: 0 is 16 kHz, 1 is 8 kHz. */
export const USUAL_BANDWIDTH = '0,1';
const QUARTER_HOUR_MS = 900_000;

const lines: CallLines = (change, call, { settings }) => {
  const list = settings.kept.get('+CLCC') === '1' && change !== 'ended' ? [clccLine(call)] : [];
  if (change === 'answered') return ['VOICE CALL: BEGIN', ...list];
  if (change !== 'ended' || call.stat !== 0) return list;
  return [`VOICE CALL: END: ${String(call.durationS).padStart(6, '0')}`];
};

/** "10:23AM" on the clock of the network. */
function shortTime(atMs: number): string {
  const local = new Date(atMs + NETWORK_OFFSET_QUARTER_HOURS * QUARTER_HOUR_MS);
  const hours = local.getUTCHours();
  const minutes = String(local.getUTCMinutes()).padStart(2, '0');
  return `${String(hours % 12 || 12).padStart(2, '0')}:${minutes}${hours < 12 ? 'AM' : 'PM'}`;
}

export const simcomVoice: MakeVoice = {
  lines,
  connectsBeforeOk: true,
  missedLines: ({ number }, atMs) => [`MISSED_CALL: ${shortTime(atMs)} ${number}`],
  endReport: ({ isOwn, cause }) => (isOwn ? 'Client ended call' : causeText(cause)),
  detectedKey: (digit, { kept }) =>
    kept.get('+DDET')?.startsWith('1') === true ? `+RXDTMF: ${digit}` : undefined,
  audio: {
    ...USUAL_VOICE.audio,
    isAlwaysOn: false,
    rateHz: ({ settings, isVolte }) => {
      const [volte, other] = (settings.kept.get('+CPCMBANDWIDTH') ?? USUAL_BANDWIDTH).split(',');
      return (isVolte ? volte : other)?.trim() === '0' ? 16_000 : 8000;
    },
  },
};

/** On during a call only; off with the flag that stops, a bare 0 is refused. */
function pcmRegister({ value }: AtCommand, { equipment }: CommandContext): Answer {
  const { hostAudio, calls } = equipment.voice;
  if (value.replaceAll(' ', '') === '0,1') {
    hostAudio.switchTo(undefined);
    return ok();
  }
  if (value !== '1') return cme(CME.incorrectParameters);
  if (calls.active === undefined || !hostAudio.switchTo('serial')) return cme(CME.operationNotAllowed);
  return ok();
}

/** +CLCC lists and switches on lines about calls; +CPCMREG. */
export const simcomVoiceCommands = commandFamily('SIMCom voice', {
  '+CLCC': forms({
    execute: listCalls,
    set: ({ value }, { equipment }) => {
      if (!/^[01]$/.test(value)) return cme(CME.incorrectParameters);
      equipment.settings.kept.set('+CLCC', value);
      return ok();
    },
    read: (_, { equipment }) => ok(`+CLCC: ${equipment.settings.kept.get('+CLCC') ?? '0'}`),
    test: () => ok('+CLCC: (0,1)'),
  }),
  '+CPCMREG': forms({
    set: pcmRegister,
    read: (_, { equipment }) => ok(`+CPCMREG: ${equipment.voice.hostAudio.route === undefined ? 0 : 1}`),
    test: () => ok('+CPCMREG: (0-1),(0-1)'),
  }),
});
