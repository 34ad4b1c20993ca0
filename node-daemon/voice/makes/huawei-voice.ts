// Calls of Huawei's sticks. Sources: chan_dongle, ModemManager.
import { fieldsOf, integerField } from '../../at/fields.ts';
import { GENERIC_VOICE } from './generic-voice.ts';
import type { MakeVoice } from './make-voice.ts';

export const HUAWEI_VOICE: MakeVoice = {
  ...GENERIC_VOICE,
  setUp: [...GENERIC_VOICE.setUp, 'AT^CVOICE=0', 'AT^DDTMFCFG=1'],
  reportsKeys: true,
  event(line) {
    if (line.startsWith('^CONF:')) return { kind: 'alerting' };
    if (line.startsWith('^CONN:')) return { kind: 'answered' };
    if (line.startsWith('^CEND:')) {
      // Index, seconds, kind of end, and the cause if the network sent it.
      const cause = integerField(fieldsOf(line), 3);
      return cause !== undefined && cause > 0 && cause <= 127
        ? { kind: 'released', cause }
        : { kind: 'released' };
    }
    const digit = /^\^DDTMF: ?([0-9*#A-D])$/.exec(line)?.[1];
    return digit === undefined ? undefined : { kind: 'digit', digit };
  },
  keyCommand: (digit) => `AT^DTMF=1,${digit}`,
  serial: { on: ['AT^DDSETEX=2'], off: [], from: 'dialing', rateHz: 8_000 },
};
