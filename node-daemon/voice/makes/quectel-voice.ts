// Calls of Quectel's EC2x. Sources: the AT commands manual of EC2x, chan_quectel.
import { fieldsOf, integerField } from '../../at/fields.ts';
import { type CallEvent, type ListedState, listedCall, numberOf } from '../state/call-event.ts';
import { GENERIC_VOICE } from './generic-voice.ts';
import type { MakeVoice } from './make-voice.ts';

/** Reads `+QIND: "ccinfo",index,direction,state,mode,multiparty,number,type`, as in the call list. State -1 is the end. */
function callIndication(line: string): CallEvent | undefined {
  const [, ...fields] = fieldsOf(line);
  if (integerField(fields, 2) === -1) return integerField(fields, 3) === 0 ? { kind: 'released' } : undefined;
  const call = listedCall(fields);
  return call && { kind: 'listed', call };
}

const STATES_OF_DSCI: Readonly<Record<number, ListedState | undefined>> = {
  2: 'dialing',
  3: 'active',
  4: 'incoming',
  5: 'waiting',
  7: 'alerting',
};

/** Reads `^DSCI: id,direction,state,type,number,type` of older firmware without "ccinfo". Its states differ. */
function callStatus(line: string): CallEvent | undefined {
  const fields = fieldsOf(line);
  const [index = 0, direction, state, type] = [0, 1, 2, 3].map((position) => integerField(fields, position));
  if (type !== 0) return undefined;
  if (state === 6) return { kind: 'released' };
  const listed = state === undefined ? undefined : STATES_OF_DSCI[state];
  if (listed === undefined) return undefined;
  const number = numberOf(fields[4], fields[5]);
  const call = { index, state: listed, number };
  return { kind: 'listed', call: { ...call, direction: direction === 1 ? 'inbound' : 'outbound' } };
}

export const QUECTEL_VOICE: MakeVoice = {
  ...GENERIC_VOICE,
  setUp: [
    ...GENERIC_VOICE.setUp,
    'AT+QINDCFG="ccinfo",1,0',
    'AT^DSCI=1',
    'AT+QTONEDET=1',
    // Otherwise NMEA sentences come between the samples.
    'AT+QGPSCFG="outport","none"',
  ],
  reportsKeys: true,
  event(line) {
    if (line.startsWith('+QIND: "ccinfo"')) return callIndication(line);
    if (line.startsWith('^DSCI:')) return callStatus(line);
    if (line.startsWith('+QTONEDET:')) {
      // The ASCII code of the key.
      const digit = String.fromCharCode(integerField(fieldsOf(line), 0) ?? 0);
      return /^[0-9*#A-D]$/.test(digit) ? { kind: 'digit', digit } : undefined;
    }
    const flow = /^\+QPCMV: ?([01]), ?0$/.exec(line);
    return flow === null ? undefined : { kind: 'audioFlow', isPaused: flow[1] === '0' };
  },
  // It must be turned on again for each call. Otherwise the call is silent.
  serial: { on: ['AT+QPCMV=0', 'AT+QPCMV=1,0'], off: ['AT+QPCMV=0'], from: 'dialing', rateHz: 8_000 },
  card: { on: ['AT+QPCMV=0', 'AT+QPCMV=1,2'], off: ['AT+QPCMV=0'], rateHz: 8_000 },
};
