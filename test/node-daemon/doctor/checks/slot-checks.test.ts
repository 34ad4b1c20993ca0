// Checks of a slot: what each trap looks like, and what the advice names.
import t from 'tap';
import { SLOT_CHECKS } from '#node-daemon/doctor/checks/all-checks.ts';
import type { Seen } from '#node-daemon/doctor/checks/check.ts';
import { GENERIC } from '#node-daemon/profiles/generic.ts';
import { HUAWEI } from '#node-daemon/profiles/huawei.ts';
import { SIMCOM } from '#node-daemon/profiles/simcom.ts';
import type { Outcome } from '#shared/operator/findings.ts';
import { daemonView, EC25, hostView, modemView, seen, slotOf, slotView, usbAttributes } from '../seen.ts';

type SlotDiffers = Parameters<typeof slotView>[0];
const check = (name: string, differs: SlotDiffers = {}, what: Partial<Seen> = {}): Outcome => {
  const judge = SLOT_CHECKS[name];
  if (judge === undefined) throw new Error(`no check ${name}`);
  return judge(slotView(differs), seen(what));
};
const reported = (name: string, answers: Record<string, string>, profile?: Parameters<typeof modemView>[1]) =>
  check(name, { modem: modemView(answers, profile) });

t.test('a healthy modem has no finding but "ok"', async (t) => {
  for (const name of Object.keys(SLOT_CHECKS)) {
    const { advice, verdict } = check(name);
    t.match(verdict, name === 'modem_clock' ? 'skipped' : 'ok', name);
    t.equal(advice, null, name);
  }
});

t.test('a modem that was not asked: every question about it is skipped, none throws', async (t) => {
  const differs = {
    modem: { why: 'does not answer', wasTried: true },
    slot: slotOf({ state: 'lost', reason: 'silent' }),
  };
  for (const name of ['profile', 'sim', 'registration', 'signal', 'storage', 'audio_loop']) {
    t.match(check(name, differs), { verdict: 'skipped' }, name);
  }
  t.match(check('port', differs), { verdict: 'problem', seen: 'does not answer', advice: /plug/ });
});

t.test('mass-storage mode, with the ids for usb_modeswitch', async (t) => {
  const id = { vendor: '12d1', product: '1f01' };
  const device = { usbPath: '1-1.1', id, interfaces: [{ number: 0, class: '08' }] };
  const differs = { device, place: { ports: [], reason: 'mass_storage' as const }, nodes: [] };
  t.match(check('usb_mode', differs), { verdict: 'problem', advice: /usb_modeswitch -v 12d1 -p 1f01/ });
  t.match(check('driver', differs), { verdict: 'skipped' });
});

t.test('no driver, half a driver, and a stick that is a network card', async (t) => {
  const without = (numbers: readonly number[]) => ({
    ...EC25,
    interfaces: EC25.interfaces.map(({ tty, ...each }) =>
      numbers.includes(each.number) || tty === undefined ? each : { ...each, tty },
    ),
  });
  t.match(check('driver', { device: without([0, 1, 2, 3]) }), {
    verdict: 'problem',
    advice: /echo 2c7c 0125 > .*new_id/,
  });
  t.match(check('driver', { device: without([2, 3]) }), { verdict: 'problem', seen: /interface 2, 3/ });
  t.match(check('driver', { device: without([3]) }), { verdict: 'ok' });
  t.match(check('driver', { device: without([1]) }), { verdict: 'warning', seen: /audio interface 1/ });
  const hiLink = {
    ...EC25,
    id: { vendor: '12d1', product: '14dc' },
    interfaces: [{ number: 0, class: '02' }],
  };
  t.match(check('driver', { device: hiLink }), { verdict: 'problem', advice: /HiLink/ });
});

t.test('power: no configuration, over-current, hubs without a supply', async (t) => {
  const of = (differs: Parameters<typeof usbAttributes>[0], count = 1) => {
    const usb = usbAttributes(differs);
    return check('usb_power', { usb, onHub: Array.from({ length: count }, () => usb) });
  };
  t.match(of({ configuration: null }), { verdict: 'problem', seen: /too little power/ });
  t.match(of({ overCurrents: 3 }), { verdict: 'problem', seen: /3 times/ });
  const host = hostView({ disconnects: new Map([['1-1.1', 12]]) });
  t.match(check('usb_power', {}, { host }), { verdict: 'warning', seen: /12 times/ });
  const bus = { path: '1-1', isRoot: false, isSelfPowered: false, maxPowerMa: 100, speedMbps: 480 };
  t.match(of({ hub: bus, maxPowerMa: 100 }), { verdict: 'warning', seen: /no power supply/ });
  t.match(of({ hub: bus }, 4), { verdict: 'problem', seen: /2000 mA for 4 devices/ });
  const root = { path: 'usb1', isRoot: true, isSelfPowered: undefined, maxPowerMa: 0, speedMbps: 480 };
  t.match(of({ hub: root }, 2), { verdict: 'ok' });
  t.match(of({ hub: root, maxPowerMa: 896 }), { verdict: 'problem', seen: /a port that gives 500 mA/ });
  const fast = { ...bus, speedMbps: 5_000, maxPowerMa: 100 };
  t.match(of({ hub: fast, maxPowerMa: 400 }, 2), { verdict: 'warning' }, 'a USB 3 port gives 900 mA');
  t.match(of({ hub: fast, maxPowerMa: 400 }, 3), { verdict: 'problem', seen: /gets 800 mA for them/ });
  t.match(of({ hub: root }, 3), { verdict: 'warning', seen: /1500 mA/, advice: /hub with/ });
});

t.test('a slot without service because the disk of the node is full', async (t) => {
  const slot = { ...slotOf(), state: 'journal_unavailable' as const };
  t.match(check('registration', { slot }), {
    verdict: 'problem',
    seen: /not in service: the disk refuses journal writes/,
    advice: /Free disk space/,
  });
});

t.test('speed and autosuspend', async (t) => {
  t.match(check('usb_speed', { usb: usbAttributes({ speedMbps: 12 }) }), {
    verdict: 'warning',
    advice: /cable/,
  });
  t.match(check('usb_speed', { usb: usbAttributes({ speedMbps: 12, usbVersion: 1.1 }) }), { verdict: 'ok' });
  t.match(check('autosuspend', { usb: usbAttributes({ powerControl: 'auto' }) }), {
    verdict: 'warning',
    advice: /echo on > \/sys\/bus\/usb\/devices\/1-1\.1\/power\/control/,
  });
  t.match(check('autosuspend', { usb: usbAttributes({ powerControl: undefined }) }), { verdict: 'skipped' });
});

t.test('rights: the group is that of the device, whatever its name', async (t) => {
  const node = { path: '/dev/ttyUSB2', uid: 0, gid: 986, mode: 0o660, holders: [] };
  const groups = new Map([[986, 'uucp']]);
  const host = hostView({ groups });
  t.match(check('port_rights', { nodes: [node] }, { host }), {
    verdict: 'problem',
    seen: /not in group uucp/,
    advice: /usermod -aG uucp/,
  });
  const member = hostView({ groups, user: { uid: 1000, groups: [986] } });
  t.match(check('port_rights', { nodes: [node] }, { host: member }), { verdict: 'ok' });
  t.match(check('port_rights', { nodes: [{ ...node, mode: 0o600 }] }, { host: member }), {
    verdict: 'problem',
    advice: /udev rule/,
  });
  const card = { ...node, path: '/dev/snd/controlC1', gid: 29 };
  const audio = new Map([[29, 'audio']]);
  t.match(check('port_rights', { cardNodes: [card] }, { host: hostView({ groups: audio }) }), {
    verdict: 'problem',
    advice: /usermod -aG audio/,
  });
  const held = { ...node, holders: [{ pid: 7, name: 'node', hasLock: true }] };
  t.match(check('port_rights', { nodes: [held] }, { host }), { verdict: 'ok' }, 'the daemon has them');
});

t.test('a program that holds the port is named, with advice', async (t) => {
  const node = (name: string, hasLock = false) => [
    { path: '/dev/ttyUSB2', uid: 0, gid: 20, mode: 0o660, holders: [{ pid: 812, name, hasLock }] },
  ];
  t.match(check('port_holder', { nodes: node('ModemManager') }), {
    verdict: 'problem',
    seen: 'ModemManager (pid 812) has /dev/ttyUSB2 open',
    advice: /udev rules/,
  });
  t.match(check('port_holder', { nodes: node('brltty') }), {
    verdict: 'problem',
    advice: /apt remove brltty/,
  });
  t.match(check('port_holder', { nodes: node('gammu-smsd') }), { verdict: 'problem', advice: /gammu-smsd/ });
  t.match(check('port_holder', { nodes: node('node', true) }), { verdict: 'ok' }, 'the daemon itself');
  const slot = slotOf({ state: 'lost', reason: 'denied' });
  t.match(check('port_holder', { nodes: node('python3', true), slot }), {
    verdict: 'problem',
    seen: 'python3 (pid 812) has /dev/ttyUSB2',
  });
  const noServer = { nodes: [{ path: '/dev/ttyUSB2', uid: 0, gid: 20, mode: 0o660, holders: [] }], slot };
  t.match(check('port_holder', noServer), { verdict: 'warning', advice: /as root/ });
  const root = hostView({ user: { uid: 0, groups: [0] } });
  t.match(check('port_holder', noServer, { host: root }), { verdict: 'problem', advice: /usermod/ });
  t.match(check('port_holder', noServer, { daemon: daemonView({ isDaemonRunning: false }) }), {
    verdict: 'ok',
  });
});

t.test('a make that no profile knows', async (t) => {
  const answers = { 'AT+CGMI': 'Foo', 'AT+CGMM': 'Bar' };
  t.match(reported('profile', answers, GENERIC), {
    verdict: 'warning',
    seen: /Foo Bar/,
    advice: /audio_port/,
  });
});

t.test('the SIM: absent, locked, on its last try, unreadable', async (t) => {
  t.match(reported('sim', { 'AT+CPIN?': '+CME ERROR: 10' }), { verdict: 'problem', seen: /no SIM card/ });
  t.match(reported('sim', { 'AT+CPIN?': '+CME ERROR: 13' }), { verdict: 'problem', advice: /contacts/ });
  t.match(reported('sim', { 'AT+CPIN?': '+CPIN: SIM PIN' }), {
    verdict: 'problem',
    seen: /3 attempts/,
    advice: /sim_pin/,
  });
  const slot = { ...slotView({}).slot, state: 'sim_locked', reason: 'sim_pin_wrong' } as const;
  const modem = modemView({ 'AT+CPIN?': '+CPIN: SIM PIN', 'AT+QPINC?': '+QPINC: "SC",2,10' });
  t.match(check('sim', { modem, slot: slot as NonNullable<ReturnType<typeof slotView>['slot']> }), {
    verdict: 'problem',
    seen: 'locked by its PIN, 2 attempts left: the card refused the PIN',
    advice: /in the fleet file/,
  });
  t.match(reported('sim', { 'AT+CPIN?': '+CPIN: SIM PIN', 'AT+QPINC?': '+QPINC: "SC",1,10' }), {
    verdict: 'problem',
    seen: /one attempt left/,
    advice: /phone/,
  });
  t.match(reported('sim', { 'AT+CPIN?': '+CPIN: SIM PUK' }), { verdict: 'problem', advice: /PUK/ });
  t.match(reported('sim', { 'AT+CPIN?': '+CPIN: PH-NET PIN' }), {
    verdict: 'problem',
    advice: /locked to another/,
  });
  t.match(reported('sim', { 'AT+CPIN?': '+CME ERROR: 14' }), { verdict: 'warning', seen: /not ready/ });
  t.match(reported('sim', { 'AT+QCCID': 'ERROR' }), { verdict: 'problem', seen: /ICCID cannot/ });
});

t.test('an unknown number, and one from the configuration', async (t) => {
  t.match(reported('number', { 'AT+CNUM': 'ERROR' }), { verdict: 'warning', advice: /sims/ });
  const modem = modemView({ 'AT+CNUM': '' });
  t.match(check('number', { modem, slot: slotOf({ number: '+12065550100' }) }), {
    verdict: 'ok',
    seen: 'known',
  });
});

t.test('registration: refused with its cause, searching, radio off, roaming', async (t) => {
  const all = (stat: string) => ({
    'AT+CREG?': `+CREG: 2,${stat}`,
    'AT+CGREG?': `+CGREG: 2,${stat}`,
    'AT+CEREG?': `+CEREG: 2,${stat}`,
  });
  t.match(reported('registration', { ...all('3'), 'AT+CEREG?': '+CEREG: 3,3,,,,0,11' }), {
    verdict: 'problem',
    seen: /: this network does not accept the card \(denied_plmn\)$/,
    advice: /bands/,
  });
  t.match(reported('registration', { ...all('3'), 'AT+CEREG?': '+CEREG: 3,3,,,,0,6' }), { advice: /IMEI/ });
  t.match(reported('registration', all('3')), {
    verdict: 'problem',
    seen: /no cause given/,
    advice: /activated/,
  });
  t.match(reported('registration', all('2')), { verdict: 'problem', advice: /antenna/ });
  t.match(reported('registration', { ...all('0'), 'AT+CFUN?': '+CFUN: 4' }), {
    verdict: 'problem',
    seen: /radio is off/,
  });
  t.match(reported('registration', all('5')), { verdict: 'warning', seen: /roaming/ });
});

t.test('a SIM for VoLTE alone: what to do depends on the make', async (t) => {
  const denied = { 'AT+CREG?': '+CREG: 2,3', 'AT+CGREG?': '+CGREG: 2,3' };
  t.match(reported('registration', denied), { verdict: 'ok' }, 'it is in service');
  t.match(reported('volte', { ...denied, 'AT+QCFG="ims"': '+QCFG: "ims",2,0' }), {
    verdict: 'problem',
    advice: /AT\+QCFG="ims",1/,
  });
  t.match(reported('volte', { ...denied, 'AT+QCFG="ims"': '+QCFG: "ims",0,0' }), { verdict: 'warning' });
  t.match(reported('volte', { ...denied, 'AT+QCFG="ims"': '+QCFG: "ims",1,1' }), {
    verdict: 'ok',
    seen: /VoLTE is on/,
  });
  t.match(reported('volte', denied, SIMCOM), { verdict: 'warning', advice: /SIM7600/ });
  t.match(reported('volte', denied, HUAWEI), { verdict: 'problem', advice: /2G and 3G only/ });
});

t.test('signal, by the scale that is reported', async (t) => {
  t.match(reported('signal', { 'AT+CSQ': '+CSQ: 6,99' }), { verdict: 'warning', seen: /-101 dBm \(RSSI\)/ });
  t.match(reported('signal', { 'AT+CSQ': '+CSQ: 2,99' }), { verdict: 'problem', advice: /antenna/ });
  t.match(reported('signal', { 'AT+CESQ': '+CESQ: 99,99,255,255,22,10' }), {
    verdict: 'problem',
    seen: /-131 dBm \(RSRP\)/,
  });
  t.match(reported('signal', { 'AT+CSQ': '+CSQ: 99,99', 'AT+CESQ': 'ERROR' }), {
    verdict: 'warning',
    seen: /not report/,
  });
});

t.test('storage at 80 % and full; a service centre that is missing', async (t) => {
  t.match(reported('storage', { 'AT+CPMS?': '+CPMS: "SM",7,10,"SM",7,10,"SM",7,10' }), {
    verdict: 'ok',
    seen: 'SM 7 of 10',
  });
  t.match(reported('storage', { 'AT+CPMS?': '+CPMS: "ME",1,255,"SM",8,10,"SM",8,10' }), {
    verdict: 'warning',
  });
  t.match(reported('storage', { 'AT+CPMS?': '+CPMS: "SM",10,10,"SM",10,10,"SM",10,10' }), {
    verdict: 'problem',
    seen: /full/,
  });
  t.match(reported('service_centre', { 'AT+CSCA?': '+CSCA: "",129' }), {
    verdict: 'problem',
    advice: /AT\+CSCA=/,
  });
});

t.test('the time that the network gives', async (t) => {
  const clockAt = (ms: number, zone: string) => {
    const quarters = Number(zone);
    const local = new Date(ms + quarters * 15 * 60_000).toISOString();
    return `+CCLK: "${local.slice(2, 10).replaceAll('-', '/')},${local.slice(11, 19)}${zone}"`;
  };
  t.match(reported('modem_clock', { 'AT+CCLK?': clockAt(Date.now(), '-32') }), { verdict: 'ok' });
  t.match(reported('modem_clock', { 'AT+CCLK?': clockAt(Date.now() + 7_200_000, '+08') }), {
    verdict: 'warning',
    seen: /120 minutes ahead/,
  });
  t.match(reported('modem_clock', { 'AT+CCLK?': '+CCLK: "80/01/06,00:00:19+00"' }), { verdict: 'skipped' });
});

t.test('audio: no audio port, a card of another rate', async (t) => {
  t.match(check('audio_path', { place: { ports: ['/dev/ttyS0'] } }), {
    verdict: 'warning',
    advice: /audio_port/,
  });
  const place = { ports: [], audio: { card: 'card1' } };
  t.match(check('audio_path', { place, cardRatesHz: [16_000] }), {
    verdict: 'problem',
    seen: /16000 Hz, not 8000/,
  });
  t.match(check('audio_path', { place, cardRatesHz: [8000, 16_000] }), { verdict: 'ok' });
});

t.test('audio at 16 kHz: SIM7600 on VoLTE, Quectel by +QDAI; a Huawei whose voice is locked', async (t) => {
  t.match(reported('audio_settings', { 'AT+CPCMBANDWIDTH?': '+CPCMBANDWIDTH: 0,1' }, SIMCOM), {
    verdict: 'warning',
    seen: /16 kHz in calls over VoLTE/,
    advice: /AT\+CPCMBANDWIDTH=1,1/,
  });
  t.match(reported('audio_settings', { 'AT+CPCMBANDWIDTH?': '+CPCMBANDWIDTH: 1,1' }, SIMCOM), {
    verdict: 'ok',
  });
  t.match(
    reported(
      'audio_settings',
      { 'AT+CPCMBANDWIDTH?': '+CPCMBANDWIDTH: 1,1', 'AT+CPCMFRM?': '+CPCMFRM: 1' },
      SIMCOM,
    ),
    { verdict: 'warning', seen: /CPCMFRM/ },
  );
  t.match(reported('audio_settings', { 'AT+QDAI?': '+QDAI: 1,0,0,5,0,1' }), {
    verdict: 'problem',
    advice: /AT\+QDAI=1/,
  });
  t.match(reported('audio_settings', { 'AT^CVOICE?': '^CVOICE:1' }, HUAWEI), {
    verdict: 'problem',
    seen: /locked/,
  });
  t.match(reported('audio_settings', { 'AT^CVOICE?': '^CVOICE:0,8000,16,20' }, HUAWEI), { verdict: 'ok' });
});

t.test('GPS text in the audio port, and the loop', async (t) => {
  const octets = Buffer.from('\x00\x01$GPGGA,120000,4736.37,N,12219.92,W*47\r\n', 'latin1');
  t.match(check('gps_in_audio', { audio: { kind: 'heard', octets } }), {
    verdict: 'problem',
    advice: /AT\+QGPSCFG="outport","none"/,
  });
  const audio = { kind: 'not_heard', why: 'not needed' } as const;
  t.match(check('gps_in_audio', { audio }), { verdict: 'ok' }, 'the setting says it');
  const modem = modemView({ 'AT+QGPSCFG="outport"': 'ERROR', 'AT+QGPS?': 'ERROR' });
  t.match(check('gps_in_audio', { audio, modem }), { verdict: 'skipped' });
  t.match(check('audio_loop', { loop: { kind: 'silence' } }), { verdict: 'warning' });
  t.match(check('audio_loop', { loop: { kind: 'noise' } }), { verdict: 'problem', advice: /rate/ });
  t.match(check('audio_loop', { loop: { kind: 'not_done', why: 'a call' } }), {
    verdict: 'skipped',
    seen: 'a call',
  });
});

t.test('the right to reset the USB device', async (t) => {
  const file = { path: '/sys/bus/usb/devices/1-1.1/authorized', uid: 0, gid: 0, mode: 0o644, holders: [] };
  t.match(check('usb_reset', { resetFile: file }), { verdict: 'warning', seen: /may not write/ });
  t.match(check('usb_reset', { resetFile: { ...file, gid: 20, mode: 0o664 } }), { verdict: 'ok' });
  t.match(check('usb_reset', { resetFile: { ...file, gid: 99, mode: 0o664 } }), { verdict: 'warning' });
  t.match(check('usb_reset', { resetFile: undefined }), { verdict: 'skipped' });
  const asRoot = (daemonUser: { uid: number; groups: number[] } | undefined) => ({
    host: hostView({ user: { uid: 0, groups: [0] }, daemonUser }),
  });
  const groupOwned = { resetFile: { ...file, gid: 99, mode: 0o664 } };
  const foreign = check('usb_reset', groupOwned, asRoot({ uid: 1000, groups: [1000, 20] }));
  t.match(foreign, { verdict: 'warning' }, 'root asks, and the daemon is in another group');
  t.match(check('usb_reset', groupOwned, asRoot({ uid: 1000, groups: [99] })), { verdict: 'ok' });
  t.match(check('usb_reset', groupOwned, asRoot(undefined)), { verdict: 'skipped' }, 'no account');
  const closed = { resetFile: { ...file, uid: 1000, gid: 20, mode: 0o464 } };
  t.match(check('usb_reset', closed), { verdict: 'warning' }, 'the bits of the owner count for the owner');
});
