// Calls of Huawei sticks: ^ORIG, ^CONF, ^CONN, ^CEND, and voice that AT^DDSETEX=2 switches on.
import { CME, cme, ok } from '../at/answer.ts';
import { commandFamily, forms } from '../behaviors/behavior.ts';
import { hangUp, press } from '../behaviors/calls.ts';
import { type CallLines, type MakeVoice, USUAL_VOICE } from '../voice/make-voice.ts';

/** <end_status>: ended by the network or the other side, and by the stick itself. */
const STATUS_NETWORK = 104;
const STATUS_OWN = 30;

const lines: CallLines = (change, { index, durationS, direction }, { end }) => {
  if (change === 'dialling' && direction === 0) return [`^ORIG:${index},0`];
  if (change === 'alerting') return [`^CONF:${index}`];
  if (change === 'answered') return [`^CONN:${index},0`];
  if (change !== 'ended' || end === undefined) return [];
  return [`^CEND:${index},${durationS},${end.isOwn ? STATUS_OWN : STATUS_NETWORK},${end.cause}`];
};

export const huaweiVoice: MakeVoice = {
  ...USUAL_VOICE,
  lines,
  detectedKey: (digit, { kept }) =>
    kept.get('^DDTMFCFG')?.startsWith('1') === true ? `^DDTMF:${digit}` : undefined,
  audio: { ...USUAL_VOICE.audio, isAlwaysOn: false },
};

/** 2: samples on the port of the voice. Other ports do not carry them. */
const voicePort = forms({
  set: ({ value }, { equipment }) => {
    if (value !== '2') return cme(CME.incorrectParameters);
    return equipment.voice.hostAudio.switchTo('serial') ? ok() : cme(CME.operationNotAllowed);
  },
  read: (_, { equipment }) => ok(`^DDSETEX:${equipment.voice.hostAudio.route === undefined ? 0 : 2}`),
  test: () => ok('^DDSETEX:(0-3)'),
});

/** ^DTMF=<call>,<key>. */
const key = forms({
  set: ({ parameters }, context) => {
    const [index, digit] = parameters;
    const isActive = context.equipment.voice.calls.active?.index === Number(index);
    if (!/^[0-9*#A-D]$/i.test(digit ?? '')) return cme(CME.incorrectParameters);
    return isActive ? press(context, digit ?? '') : cme(CME.operationNotAllowed);
  },
});

/** ^DDSETEX, ^DTMF, ^CHUP. */
export const huaweiVoiceCommands = commandFamily('Huawei voice', {
  '^DDSETEX': voicePort,
  '^DTMF': key,
  '^CHUP': forms({ execute: (_, context) => hangUp(context) }),
});
