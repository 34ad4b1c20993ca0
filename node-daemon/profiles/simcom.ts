// The profile of SIMCom's SIM7100, SIM7500 and SIM7600. Sources: the SIM7500_SIM7600 AT command manual, ModemManager's port rules.
import { fieldsOf } from '../at/fields.ts';
import { listedCall } from './call-event.ts';
import { GENERIC, GENERIC_VOICE } from './generic.ts';
import type { MakeVoice, ModemProfile } from './profile.ts';
import { SIMCOM_NETWORKS, SIMCOM_SETTINGS } from './simcom-network.ts';

/** Sources: the SIM7500_SIM7600 AT command manual, chan_quectel, reports of users. */
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

export const SIMCOM: ModemProfile = {
  ...GENERIC,
  name: 'SIMCom SIM7600',
  usb: [
    // 0 diagnostics, 1 NMEA, 2 AT, 3 modem, 4 the audio of a call.
    { vendor: '1e0e', product: '9001', atInterfaces: [2, 3], audioInterface: 4 },
    { vendor: '1e0e', product: '9003', atInterfaces: [2, 3] },
    { vendor: '1e0e', product: '9205', atInterfaces: [2] },
    { vendor: '1e0e', product: '9206', atInterfaces: [2] },
    // With RNDIS on the first two interfaces.
    { vendor: '1e0e', product: '9011', atInterfaces: [4, 5] },
  ],
  matches: /SIMCOM/i,
  setUp: [
    ...GENERIC.setUp,
    // +CSQ as a URC when it changes, then the registered technology.
    'AT+AUTOCSQ=1,1',
    'AT+CNSMOD=1',
  ],
  // `+ICCID: 898600…` answers the first.
  iccidCommands: ['AT+CICCID', 'AT+CCID', 'AT+CRSM=176,12258,0,0,10'],
  // `+SPIC: 3,10,0,10`: the attempts of the PIN always come first.
  pinTries: { command: 'AT+SPIC', answer: /^\+SPIC:/, tries: /^\+SPIC: ?(\d+)/ },
  storages: '("SM","ME"),("SM","ME"),("SM","ME")',
  // AT+CFUN=1,1 does not restart the audio and, on some firmware, the USB part.
  restartCommand: 'AT+CRESET',
  settleMs: 20_000,
  urcs: {
    restarted: /^(RDY$|START$|\*ATREADY:|\+CFUN: ?1$|NORMAL POWER DOWN|POWERED DOWN)/,
    simChanged: /^(\+CPIN:|\+SIMCARD:|\+SIM:|SIM (REMOVED|INSERTED))/,
    storeFull: /^\+SMS FULL/,
    networkChanged: /^\+CNSMOD:/,
    ignorable:
      /^(SMS DONE|PB DONE|\+CLCC:|MISSED_CALL:|VOICE CALL:|\+NITZ|\*PSUTTZ|DST:|\+STIN:|RING|\+CLIP:|NO CARRIER|\+CUSD:)/,
    signal: [{ match: /^\+CSQN?: ?(\d+),/, scale: 'rssi' }],
  },
  voice: SIMCOM_VOICE,
  networks: SIMCOM_NETWORKS,
  voiceSettings: SIMCOM_SETTINGS,
};
