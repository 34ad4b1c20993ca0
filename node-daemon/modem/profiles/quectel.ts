// The profile of Quectel's EC2x, EG2x and related families. Sources: the AT commands manual of EC2x, ModemManager's port rules.
import { QUECTEL_VOICE } from '../../voice/makes/quectel-voice.ts';
import { GENERIC } from './generic.ts';
import type { ModemProfile, UsbProduct } from './profile.ts';

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
};
