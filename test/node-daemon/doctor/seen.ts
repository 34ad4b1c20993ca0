// The facts that doctor sees on a host and a modem without problems; each test changes some of them.
import type { DaemonView, Seen } from '#node-daemon/doctor/checks/check.ts';
import type { HostView } from '#node-daemon/doctor/seen/host-view.ts';
import { ModemView, type SlotView } from '#node-daemon/doctor/seen/slot-view.ts';
import type { UsbAttributes } from '#node-daemon/doctor/seen/usb-attributes.ts';
import type { ModemProfile } from '#node-daemon/profiles/profile.ts';
import { QUECTEL } from '#node-daemon/profiles/quectel.ts';
import type { UsbDevice } from '#node-daemon/usb/usb-device.ts';
import type { Slot } from '#shared/link/slot.ts';

export const EC25: UsbDevice = {
  usbPath: '1-1.1',
  id: { vendor: '2c7c', product: '0125' },
  interfaces: [0, 1, 2, 3].map((number) => ({ number, class: 'ff', tty: `ttyUSB${number}` })),
};

export const usbAttributes = (differs: Partial<UsbAttributes> = {}): UsbAttributes => ({
  usbPath: '1-1.1',
  powerControl: 'on',
  maxPowerMa: 500,
  speedMbps: 480,
  usbVersion: 2,
  configuration: 1,
  serial: 'a5c00000',
  overCurrents: 0,
  hub: { path: '1-1', isRoot: false, isSelfPowered: true, maxPowerMa: 100, speedMbps: 480 },
  ...differs,
});

export const hostView = (differs: Partial<HostView> = {}): HostView => ({
  nodeVersion: '22.12.0',
  threads: 64,
  user: { uid: 1000, groups: [1000, 20] },
  daemonUser: { uid: 1000, groups: [1000, 20] },
  isSimulated: false,
  dataFolder: { path: '/var/lib/simrack', state: 'writable', uid: 1000, freeBytes: 4e9, freeFiles: 100_000 },
  enrollment: { kind: 'enrolled', nodeId: 'n-1', controlPlaneUrl: 'https://sim.example' },
  controlPlane: { url: 'https://sim.example', status: 200, clockDifferenceMs: 300 },
  isClockSynchronized: true,
  programs: { processes: [{ pid: 1, name: 'systemd', devices: [] }], locks: [], own: [4242] },
  udevRules: { ignoredByModemManager: new Set(['2c7c']), awake: new Set(['2c7c']) },
  missingSoundPrograms: [],
  disconnects: new Map(),
  topology: { controllers: [], nodes: [] },
  devices: [EC25],
  usb: new Map([['1-1.1', usbAttributes()]]),
  groups: new Map([
    [0, 'root'],
    [20, 'dialout'],
  ]),
  ...differs,
});

export const daemonView = (differs: Partial<DaemonView> = {}): DaemonView => ({
  isDaemonRunning: true,
  link: 'linked',
  linkFailure: undefined,
  configurationProblem: undefined,
  problem: undefined,
  doesProblemAdvise: false,
  wrongFolderAdvice: undefined,
  ...differs,
});

export const slotOf = (differs: Partial<Slot> = {}): Slot => ({
  slot: '1-1.1',
  state: 'registered',
  device_id: '867698040000017',
  iccid: '8901000000000000017',
  number: null,
  operator: '00101',
  signal_dbm: -71,
  model: 'Quectel EC25',
  usb_path: '1-1.1',
  reason: null,
  storage: null,
  swept_at: null,
  voice_settings: { network: '310260', state: 'right', why: null, detail: null },
  ...differs,
});

/** Answers of an EC25 in service. */
const ANSWERS: Readonly<Record<string, string>> = {
  ATI: 'Quectel\nEC25\nRevision: EC25AFAR05A06M4G',
  'AT+CGMI': 'Quectel',
  'AT+CGMM': 'EC25',
  'AT+CGMR': 'EC25AFAR05A06M4G',
  'AT+CFUN?': '+CFUN: 1',
  'AT+CPIN?': '+CPIN: READY',
  'AT+CREG?': '+CREG: 2,1,"1A2B","01A2B3C4",7',
  'AT+CGREG?': '+CGREG: 2,1,"1A2B","01A2B3C4",7',
  'AT+CEREG?': '+CEREG: 2,1,"1A2B","01A2B3C4",7',
  'AT+COPS?': '+COPS: 0,2,"00101",7',
  'AT+CSQ': '+CSQ: 21,99',
  'AT+CESQ': '+CESQ: 99,99,255,255,22,52',
  'AT+CPMS?': '+CPMS: "SM",3,50,"SM",3,50,"ME",0,255',
  'AT+CSCA?': '+CSCA: "+12065550000",145',
  'AT+CNUM': '+CNUM: ,"+12065550100",145',
  'AT+QCCID': '+QCCID: 8901000000000000017F',
  'AT+QPINC?': '+QPINC: "SC",3,10\n+QPINC: "P2",3,10',
  'AT+QDAI?': '+QDAI: 1,0,0,5,0,0',
  'AT+QGPSCFG="outport"': '+QGPSCFG: "outport","none"',
  'AT+QCFG="ims"': '+QCFG: "ims",1,1',
};

/** Lines joined by newlines; a text that is an error is the final result. */
export function modemView(
  differs: Readonly<Record<string, string>> = {},
  profile: ModemProfile = QUECTEL,
): ModemView {
  const answers = Object.entries({ ...ANSWERS, ...differs }).map(([command, text]) => {
    const isError = /^(ERROR|\+CM[ES] ERROR)/.test(text);
    const lines = isError || text === '' ? [] : text.split('\n');
    return [command, { lines, final: isError ? text : 'OK', ok: !isError }] as const;
  });
  return new ModemView(profile, new Map(answers));
}

const NODE = { path: '/dev/ttyUSB2', uid: 0, gid: 20, mode: 0o660, holders: [] };

export const slotView = (differs: Partial<SlotView> = {}): SlotView => ({
  name: '1-1.1',
  slot: slotOf(),
  device: EC25,
  usb: usbAttributes(),
  onHub: [usbAttributes()],
  place: {
    ports: ['/dev/ttyUSB2', '/dev/ttyUSB3'],
    usb: { path: '1-1.1', id: EC25.id },
    audio: { port: '/dev/ttyUSB1' },
  },
  nodes: [NODE, { ...NODE, path: '/dev/ttyUSB3' }, { ...NODE, path: '/dev/ttyUSB1' }],
  modem: modemView(),
  audio: { kind: 'heard', octets: Buffer.alloc(0) },
  loop: { kind: 'back' },
  cardRatesHz: undefined,
  cardNodes: [],
  resetFile: { path: '/sys/bus/usb/devices/1-1.1/authorized', uid: 0, gid: 20, mode: 0o664, holders: [] },
  ...differs,
});

export const seen = (differs: Partial<Seen> = {}): Seen => ({
  host: hostView(),
  daemon: daemonView(),
  slots: [slotView()],
  ...differs,
});
