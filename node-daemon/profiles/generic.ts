// The profile of any modem that follows 3GPP TS 27.007 and 27.005. Other profiles contain the differences from it.
import type { MakeVoice, ModemProfile } from './profile.ts';

/** Calls of any modem that follows 3GPP TS 27.007. */
export const GENERIC_VOICE: MakeVoice = {
  setUp: [
    // Caller numbers; calls by kind; no call waiting (§7.6, §6.11, §7.12); call control also by ATH (§6.20).
    'AT+CLIP=1',
    'AT+CRC=1',
    'AT+CCWA=0,0,1',
    'AT+COLP=0',
    'AT+CVHU=0',
  ],
  event: () => undefined,
  // Appendix C.11: one key at a time, quoted or not.
  keyCommand: (digit) => `AT+VTS="${digit}"`,
  reportsKeys: false,
  serial: { on: [], off: [], from: 'dialing', rateHz: 8_000 },
};

export const GENERIC: ModemProfile = {
  name: 'generic 3GPP',
  usb: [],
  usbStorage: [],
  matches: /(?:)/,
  // Operators as numbers; names and own numbers in plain letters.
  setUp: ['AT+COPS=3,2', 'AT+CSCS="GSM"'],
  // The last reads EF-ICCID itself (3GPP TS 31.102 §4.2.1, 27.007 §8.18): digits swapped.
  iccidCommands: ['AT+CCID', 'AT+ICCID', 'AT^ICCID?', 'AT+CRSM=176,12258,0,0,10'],
  // 3GPP TS 27.007 §8.65. `+CPINR: SIM PIN,3,3`; some firmware quotes the name.
  pinTries: { command: 'AT+CPINR="SIM PIN"', answer: /^\+CPINR:/, tries: /^\+CPINR: ?"?SIM PIN"?,(\d+)/ },
  registration: ['CREG', 'CEREG', 'CGREG'],
  // Messages stored and announced, reports forwarded directly. Then the values for older firmware.
  indications: ['2,1,0,1,0', '2,1,0,2,0', '1,1,0,1,0', '2,1,0,0,0', '2,1'],
  // Modem memory is larger and faster than the SIM's.
  receiving: ['SM', 'ME', 'MT'],
  storages: '("SM"),("SM"),("SM")',
  restartCommand: 'AT+CFUN=1,1',
  settleMs: 15_000,
  urcs: {
    restarted: /^(RDY$|\+CFUN: ?1$|\^SYSSTART|NORMAL POWER DOWN|POWERED DOWN)/,
    doubtful: /^\^BOOT/,
    simChanged: /^(\+CPIN:|\+SIMCARD:|\^SIMST:)/,
    // 3GPP TS 27.007 §8.9, <ind> 8 or by name: vendors that report it this way name it.
    storeFull: /^(\^SMMEMFULL|\+SMS FULL|\+QIND: ?"smsfull"|\+CIEV: ?"?(smsfull|SMSFULL)"?,1)/,
    ignorable: /^(RING|\+CRING:|\+CLIP:|NO CARRIER|\+CUSD:|\+CTZV:|\+CTZE:|\+CSSU:|\+CSSI:)/,
    signal: [],
  },
  voice: GENERIC_VOICE,
};
