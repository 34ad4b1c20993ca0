// Calls of Quectel modems: +QIND: "ccinfo" or ^DSCI, voice on the NMEA port or the sound card as +QPCMV says, and their commands.
import { type Answer, CME, cme, ok } from '../at/answer.ts';
import type { AtCommand } from '../at/at-line.ts';
import type { ModemSettings } from '../at/settings.ts';
import { type CommandContext, commandFamily, forms, numberParameter } from '../behaviors/behavior.ts';
import { hangUp, pressKeys } from '../behaviors/calls.ts';
import { keptCommands } from '../behaviors/kept-settings.ts';
import { CAUSE_MAX } from '../calls/cause.ts';
import type { VoiceRoute } from '../voice/host-audio.ts';
import { type CallChange, type CallLines, type MakeVoice, USUAL_VOICE } from '../voice/make-voice.ts';
import { type ShownCall, STAT } from '../voice/modem-call.ts';
import { indicates } from './quectel-commands.ts';
import { callsOverLte } from './quectel-network.ts';

/** Half a second of 8 kHz; the modem asks for a pause well before. */
const BUFFER_BYTES = 8000;
const FULL_BYTES = 6400;
const ROOM_BYTES = 3200;

/** ^DSCI counts states otherwise than +CLCC. */
const DSCI_STATES: Readonly<Record<CallChange, number>> = {
  dialling: 2,
  answered: 3,
  incoming: 4,
  waiting: 5,
  ended: 6,
  alerting: 7,
};

/** As in +CLCC, and -1 for a call that has ended. */
const CCINFO_STATES: Readonly<Record<CallChange, number>> = {
  answered: STAT.active,
  dialling: STAT.dialling,
  alerting: STAT.alerting,
  incoming: STAT.incoming,
  waiting: STAT.waiting,
  ended: -1,
};

const lines: CallLines = (change, { index, direction, number, numberType }: ShownCall, { settings }) => [
  ...(indicates(settings, 'ccinfo')
    ? [`+QIND: "ccinfo",${index},${direction},${CCINFO_STATES[change]},0,0,"${number}",${numberType}`]
    : []),
  ...(settings.kept.get('^DSCI') === '1'
    ? [`^DSCI: ${index},${direction},${DSCI_STATES[change]},0,${number},${numberType}`]
    : []),
];

/** The output port of the GNSS receiver. */
function nmeaPort({ kept }: ModemSettings): string {
  return kept.get('+QGPSCFG outport') ?? 'usbnmea';
}

export const quectelVoice: MakeVoice = {
  ...USUAL_VOICE,
  lines,
  /** Location 5 of the cause, then the cause. */
  endReport: ({ cause }) => `5,${cause}`,
  detectedKey: (digit, { kept }) =>
    kept.get('+QTONEDET')?.startsWith('1') === true ? `+QTONEDET: ${digit.charCodeAt(0)}` : undefined,
  audio: {
    isAlwaysOn: false,
    bufferBytes: BUFFER_BYTES,
    flowControl: {
      fullBytes: FULL_BYTES,
      fullLine: '+QPCMV: 0,0',
      roomBytes: ROOM_BYTES,
      roomLine: '+QPCMV: 1,0',
    },
    rateHz: ({ stored }) => stored.rateHz,
    mixesNmea: (settings) => nmeaPort(settings) !== 'none',
    isLooped: ({ kept }) => kept.get('+QAUDLOOP')?.startsWith('1') === true,
  },
};

// Commands about the voice of Quectel modems: +QPCMV, +QDAI, +QCFG, +QGPS, +QGPSCFG, +QHUP, +VTS, +QVTS.

/** <port> of +QPCMV; 1 is the debug UART, which leads nowhere here. */
const ROUTES: Readonly<Record<string, VoiceRoute | undefined>> = {
  '0': 'serial',
  '1': undefined,
  '2': 'usb',
};
const PORTS: Readonly<Record<VoiceRoute, number>> = { serial: 0, usb: 2 };

/** Vendor, product, diag, nmea, at, modem, net, adb; the last one, the sound card, is behind. */
const USB_FUNCTIONS = '0x2C7C,0x0125,1,1,1,1,1,0';
/** Sixth field of +QDAI. */
const QDAI_RATE = 5;

function pcmVoice({ parameters }: AtCommand, { equipment }: CommandContext): Answer {
  const [isOn, port = '0'] = parameters;
  if (!/^[01]$/.test(isOn ?? '') || !(port in ROUTES)) return cme(CME.incorrectParameters);
  const route = isOn === '1' ? ROUTES[port] : undefined;
  if (route === 'usb' && !equipment.hasSoundCard) return cme(CME.operationNotAllowed);
  return equipment.voice.hostAudio.switchTo(route) ? ok() : cme(CME.operationNotAllowed);
}

/** The two values of +QPCMV?. */
function pcmVoiceState({ equipment }: CommandContext): string {
  const { route } = equipment.voice.hostAudio;
  return route === undefined ? '0,0' : `1,${PORTS[route]}`;
}

/** The last field of "usbcfg" takes effect at the next start of the modem. */
function configuration({ operation, parameters }: AtCommand, context: CommandContext): Answer {
  const { equipment } = context;
  if (operation === 'test')
    return ok('+QCFG: "usbcfg",(vid),(pid),(0,1),(0,1),(0,1),(0,1),(0,1),(0,1),(0,1)', '+QCFG: "ims",(0-2)');
  const [name, ...values] = parameters;
  if (operation === 'set' && name?.toLowerCase() === 'ims') return callsOverLte(values, context);
  if (operation !== 'set' || name?.toLowerCase() !== 'usbcfg') return cme(CME.incorrectParameters);
  const { stored } = equipment.voice;
  if (values.length === 0) return ok(`+QCFG: "usbcfg",${USB_FUNCTIONS},${stored.usbAudio ? 1 : 0}`);
  const sound = values[8];
  if (values.length !== 9 || (sound !== '0' && sound !== '1')) return cme(CME.incorrectParameters);
  stored.usbAudio = sound === '1';
  return ok();
}

/** The sample rate takes effect at the next start of the modem. */
function digitalAudio({ parameters }: AtCommand, { equipment }: CommandContext): Answer {
  const values = parameters;
  if (values.length > 8 || values.some((value) => !/^\d$/.test(value))) return cme(CME.incorrectParameters);
  const rate = values[QDAI_RATE] ?? '0';
  if (rate !== '0' && rate !== '1') return cme(CME.incorrectParameters);
  equipment.voice.stored.nextRateHz = rate === '1' ? 16_000 : 8000;
  return ok();
}

function satellites(
  { operation, parameters }: AtCommand,
  { equipment: { settings } }: CommandContext,
): Answer {
  if (operation === 'test') return ok('+QGPSCFG: "outport",("none","usbnmea","uartdebug")');
  const [name, port] = parameters;
  if (operation !== 'set' || name !== 'outport') return cme(CME.incorrectParameters);
  if (port === undefined) return ok(`+QGPSCFG: "outport","${nmeaPort(settings)}"`);
  if (!['none', 'usbnmea', 'uartdebug'].includes(port)) return cme(CME.incorrectParameters);
  settings.kept.set('+QGPSCFG outport', port);
  return ok();
}

export const quectelVoiceCommands = commandFamily('Quectel voice', {
  '+QPCMV': forms({
    set: pcmVoice,
    read: (_, context) => ok(`+QPCMV: ${pcmVoiceState(context)}`),
    test: () => ok('+QPCMV: (0,1),(0-2)'),
  }),
  '+QCFG': configuration,
  '+QDAI': forms({
    set: digitalAudio,
    read: (_, { equipment }) =>
      ok(`+QDAI: 1,0,0,5,0,${equipment.voice.stored.nextRateHz === 16_000 ? 1 : 0}`),
    test: () => ok('+QDAI: (1-4),(0,1),(0,1),(0-5),(0-2),(0,1)'),
  }),
  '+QGPSCFG': satellites,
  '+QGPS': forms({
    read: (_, { equipment }) => ok(`+QGPS: ${equipment.faults.has('nmea_in_pcm') ? 1 : 0}`),
    test: () => ok('+QGPS: (1-4),(1-255),(1-1000),(0-1000),(1-65535)'),
  }),
  '+QHUP': forms({
    set: (command, context) => {
      const cause = numberParameter(command, 0, { min: 1, max: CAUSE_MAX });
      const index = numberParameter(command, 1, { min: 0, max: 7, fallback: 0 });
      return hangUp(context, index === 0 ? { cause } : { cause, index });
    },
    test: () => ok('+QHUP: (1-127),(0-7)'),
  }),
  '+VTS': forms({
    set: pressKeys(/^[0-9*#A-D]{1,31}$/i),
    test: () => ok('+VTS: (0-9,A-D,*,#),(0-255)'),
  }),
  '+QVTS': forms({ set: pressKeys(/^[0-9*#A-D]{1,31}$/i) }),
  ...keptCommands({
    '+QAUDMOD': { initial: '0', range: '(0-3)' },
    '+QAUDLOOP': { initial: '0', range: '(0,1)' },
    '+QMIC': { initial: '15000,12000', range: '(0-65535),(0-65535)' },
    '+QRXGAIN': { initial: '20577', range: '(0-65535)' },
    '+QEEC': { initial: '0', range: '(0-99)' },
    '+QSIDET': { initial: '0', range: '(0-65535)' },
  }),
});
