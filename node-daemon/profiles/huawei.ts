// The profile of Huawei's sticks: E169, E1550, E17x, E303, E3131, E3372 in stick mode. Sources: chan_dongle, ModemManager, usb_modeswitch.
import { fieldsOf, integerField } from '../at/fields.ts';
import type { UsbId } from '../usb/usb-device.ts';
import { GENERIC, GENERIC_VOICE } from './generic.ts';
import type { MakeVoice, ModemProfile, UsbProduct } from './profile.ts';

/** Sources: chan_dongle, ModemManager. */
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

/** The order differs by firmware. Ports are tried in this order. Only the PCUI port announces messages. */
const ORDER = { atInterfaces: [2, 3, 0, 1], audioInterface: 1 };
/** E169, E1550 and E17x; E220; later E17x and E173; K3765; E303, E3131 and E3531. */
const PRODUCTS = ['1001', '1003', '1406', '140c', '1436', '14ac', '1465', '1506'];
const STORAGE_PRODUCTS = ['1446', '14fe', '1f01', '1c0b', '1520', '1505'];

export const HUAWEI: ModemProfile = {
  ...GENERIC,
  name: 'Huawei',
  usb: PRODUCTS.map((product): UsbProduct => ({ vendor: '12d1', product, ...ORDER })),
  usbStorage: STORAGE_PRODUCTS.map((product): UsbId => ({ vendor: '12d1', product })),
  matches: /huawei/i,
  setUp: [
    ...GENERIC.setUp,
    // Announcements reach only the port that sent this command.
    'AT^PORTSEL=1',
    'AT^CURC=1',
  ],
  iccidCommands: ['AT^ICCID?', 'AT+CCID', 'AT+ICCID', 'AT+CRSM=176,12258,0,0,10'],
  // `^CPIN: SIM PIN,3,10,3,10,3`: the code, its attempts left, then those of PUK, PIN, PUK2, PIN2.
  pinTries: {
    command: 'AT^CPIN?',
    answer: /^\^CPIN:/,
    tries: /^\^CPIN: ?[^,]*,\d*,\d*,(\d+)/,
  },
  storages: '("SM","ME"),("SM","ME"),("SM","ME")',
  restartCommand: 'AT^RESET',
  settleMs: 20_000,
  hasPackedUssd: true,
  urcs: {
    restarted: /^(\^SYSSTART|\+CFUN: ?1$)/,
    // Observed: E1752 sends ^BOOT with the same number every 30 s, all the time.
    doubtful: /^\^BOOT/,
    simChanged: /^(\+CPIN:|\^SIMST:)/,
    storeFull: /^\^SMMEMFULL/,
    networkChanged: /^(\^MODE:|\^SRVST:|\^NWNAME:|\^SYSINFO)/,
    ignorable:
      /^(\^DSFLOWRPT:|\^CSNR:|\^RSSILVL:|\^STIN:|\^NWTIME:|\^TIME:|\^EARST|\^CONN:|\^CONF:|\^CEND:|\^ORIG:|\^CERSSI:|\^ANLEVEL:|\^THERM:|\+CLIP:|RING|\+CUSD:)/,
    signal: [
      { match: /^\^RSSI: ?(\d+)/, scale: 'rssi' },
      { match: /^\^HCSQ: ?"(?:GSM|WCDMA|LTE)",(\d+)/, scale: 'rscp' },
    ],
  },
  voice: HUAWEI_VOICE,
};
