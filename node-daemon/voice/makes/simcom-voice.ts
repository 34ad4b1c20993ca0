// Calls of SIMCom's SIM7600. Sources: the SIM7500_SIM7600 AT command manual, chan_quectel, reports of users.
import { fieldsOf } from '../../at/fields.ts';
import { listedCall } from '../state/call-event.ts';
import { GENERIC_VOICE } from './generic-voice.ts';
import type { MakeVoice } from './make-voice.ts';

export const SIMCOM_VOICE: MakeVoice = {
  ...GENERIC_VOICE,
  setUp: [
    ...GENERIC_VOICE.setUp,
    // The call list as URCs.
    'AT+CLCC=1',
    'AT+DDET=1',
    // 8 kHz for VoLTE and other calls. The default for VoLTE is 16 kHz.
    'AT+CPCMBANDWIDTH=1,1',
  ],
  reportsKeys: true,
  event(line) {
    if (line.startsWith('+CLCC:')) {
      const call = listedCall(fieldsOf(line));
      return call && { kind: 'listed', call };
    }
    if (line === 'VOICE CALL: BEGIN') return { kind: 'answered' };
    if (line.startsWith('VOICE CALL: END') || line.startsWith('MISSED_CALL:')) return { kind: 'released' };
    const digit = /^\+(?:RX)?DTMF: ?([0-9*#A-D])$/.exec(line)?.[1];
    return digit === undefined ? undefined : { kind: 'digit', digit };
  },
  serial: {
    on: ['AT+CPCMREG=1'],
    off: ['AT+CPCMREG=0,1'],
    from: 'answer',
    confirm: { command: 'AT+CPCMREG?', isOn: /^\+CPCMREG: ?1/ },
    // The returned value is the setting, not the rate of the call.
    rateHz: 'measured',
  },
};
