// The profile of Quectel's EC2x, EG2x and related families. Sources: the AT commands manual of EC2x, ModemManager's port rules.
import { fieldsOf, integerField } from '../at/fields.ts';
import { type CallEvent, type ListedState, listedCall, numberOf } from './call-event.ts';
import { GENERIC, GENERIC_VOICE } from './generic.ts';
import type { MakeVoice, ModemProfile, UsbProduct } from './profile.ts';
import { QUECTEL_NETWORKS, QUECTEL_SETTINGS } from './quectel-network.ts';

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

/** Sources: the AT commands manual of EC2x, chan_quectel. */
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

/** Interfaces: 0 diagnostics, 1 NMEA or the audio of a call, 2 AT, 3 modem. */
const ORDER = { atInterfaces: [2, 3], audioInterface: 1 };
/** EC25, EG25-G and EC20 R2.1; EC21; EG91; EG95; EP06 and EG06; EM12. */
const PRODUCTS = ['0125', '0121', '0191', '0195', '0306', '0512'];

export const QUECTEL: ModemProfile = {
  ...GENERIC,
  name: 'Quectel EC2x',
  usb: PRODUCTS.map((product): UsbProduct => ({ vendor: '2c7c', product, ...ORDER })),
  matches: /Quectel/i,
  setUp: [
    ...GENERIC.setUp,
    // Without this, URCs may go to another port.
    'AT+QURCCFG="urcport","usbat"',
    // Off by default. The last 0 means until the next restart only, to spare the flash memory.
    'AT+QINDCFG="smsfull",1,0',
    'AT+QINDCFG="csq",1,0',
    'AT+QINDCFG="act",1,0',
    // Reports when the card is inserted or removed, if card detection is wired and on.
    'AT+QSIMSTAT=1',
  ],
  iccidCommands: ['AT+QCCID', ...GENERIC.iccidCommands],
  // `+QPINC: "SC",3,10` and `+QPINC: "P2",3,10`: attempts left for the PIN, then for its PUK.
  pinTries: { command: 'AT+QPINC?', answer: /^\+QPINC:/, tries: /^\+QPINC: ?"SC",(\d+)/ },
  storages: '("SM","ME"),("SM","ME"),("SM","ME")',
  urcs: {
    restarted: /^(RDY$|APP RDY$|\+CFUN: ?1$|NORMAL POWER DOWN|POWERED DOWN)/,
    simChanged: /^(\+CPIN:|\+QUSIM:|\+QSIMSTAT:)/,
    storeFull: /^\+QIND: ?"smsfull"/,
    networkChanged: /^\+QIND: ?"act"/,
    ignorable:
      /^(\+QIND:(?! ?"(?:csq|act|smsfull)")|\+QPCMV:|\+QURC:|\^DSCI:|\+QTONEDET:|RING|\+CLIP:|NO CARRIER|\+CUSD:)/,
    signal: [
      { match: /^\+QIND: ?"csq",(\d+)/, scale: 'rssi' },
      { match: /^\+QCSQ: ?"(?:GSM|WCDMA|LTE)",(-\d+)/, scale: 'dbm' },
    ],
  },
  voice: QUECTEL_VOICE,
  networks: QUECTEL_NETWORKS,
  voiceSettings: QUECTEL_SETTINGS,
};
