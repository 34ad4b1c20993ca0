// Checks of the host: what each trap looks like, and what the advice names.
import t from 'tap';
import { HOST_CHECKS } from '#node-daemon/doctor/checks/all-checks.ts';
import type { Seen } from '#node-daemon/doctor/checks/check.ts';
import type { Outcome } from '#shared/operator/findings.ts';
import { daemonView, hostView, seen, slotOf, slotView } from '../seen.ts';

const check = (name: string, what: Partial<Seen> = {}): Outcome => {
  const judge = HOST_CHECKS[name];
  if (judge === undefined) throw new Error(`no check ${name}`);
  return judge(seen(what));
};
const ofHost = (name: string, differs: Parameters<typeof hostView>[0]): Outcome =>
  check(name, { host: hostView(differs) });

t.test('a healthy host has no finding but "ok"', async (t) => {
  for (const name of Object.keys(HOST_CHECKS)) {
    const { advice, verdict } = check(name);
    t.match(verdict, /^(ok|skipped)$/, name);
    t.equal(advice, null, name);
  }
});

t.test('Node.js that is too old, and too few threads', async (t) => {
  t.match(ofHost('node_version', { nodeVersion: '20.18.3' }), { verdict: 'problem', advice: /20\.19/ });
  t.match(ofHost('node_version', { nodeVersion: '18.20.0' }), { verdict: 'problem' });
  t.match(ofHost('node_version', { nodeVersion: '20.19.0' }), { verdict: 'ok' });
  const slots = Array.from({ length: 8 }, () => slotView());
  t.match(check('threads', { host: hostView({ threads: 4 }), slots }), {
    verdict: 'warning',
    advice: /UV_THREADPOOL_SIZE=64/,
  });
});

t.test('a configuration file that is wrong', async (t) => {
  const daemon = daemonView({ configurationProblem: 'node.yaml:4:5: slots[1].usbpath: unknown key' });
  t.match(check('configuration', { daemon }), { verdict: 'problem', seen: /node\.yaml:4:5/ });
});

t.test('the data folder: missing, of another user, read-only, full', async (t) => {
  const { dataFolder } = hostView();
  const of = (differs: object) => ofHost('data_folder', { dataFolder: { ...dataFolder, ...differs } });
  t.match(of({ state: 'missing' }), { verdict: 'warning', advice: /node-daemon enroll/ });
  t.match(of({ state: 'foreign' }), { verdict: 'skipped', seen: /user 1000/ });
  t.match(of({ state: 'read_only' }), { verdict: 'problem', advice: /dmesg/ });
  t.match(of({ freeBytes: 10e6 }), { verdict: 'problem', advice: /Free space/ });
  t.match(of({ freeBytes: 200e6 }), { verdict: 'warning', advice: /still works. While the disk is full/ });
  t.match(of({ freeFiles: 500 }), { verdict: 'warning', seen: /few free inodes/ });
  t.match(of({ freeFiles: 3 }), { verdict: 'problem', seen: /inodes/ });
  t.match(of({ freeBytes: undefined, freeFiles: undefined }), { verdict: 'ok' });
});

t.test('a node that is not enrolled, and one whose identity is damaged', async (t) => {
  t.match(ofHost('enrolment', { enrollment: { kind: 'not_enrolled' } }), {
    verdict: 'problem',
    advice: /node-daemon enroll/,
  });
  t.match(ofHost('enrolment', { enrollment: { kind: 'damaged' } }), { verdict: 'problem', advice: /again/ });
});

t.test('a node that is not enrolled has one problem, because its link is down for that reason', async (t) => {
  const seen = {
    host: hostView({ enrollment: { kind: 'not_enrolled' } }),
    daemon: daemonView({ link: 'away' }),
  };
  t.match(check('enrolment', seen), { verdict: 'problem' });
  t.match(check('link', seen), { verdict: 'skipped', seen: 'this node is not enrolled' });
});

t.test('the data folder of another program is one problem, without advice to enroll there', async (t) => {
  const seen = {
    host: hostView({ enrollment: { kind: 'not_enrolled' } }),
    daemon: daemonView({ problem: 'it belongs to the control plane', wrongFolderAdvice: 'Use another one.' }),
  };
  t.match(check('link', seen), {
    verdict: 'problem',
    seen: 'it belongs to the control plane',
    advice: 'Use another one.',
  });
  t.match(check('enrolment', seen), { verdict: 'skipped', advice: null });
});

t.test('a problem that says what to do gets no other advice', async (t) => {
  const daemon = { problem: 'operator.sock: you have no permission to use it: use sudo' };
  t.match(check('link', { daemon: daemonView({ ...daemon, doesProblemAdvise: true }) }), {
    verdict: 'problem',
    advice: /^Do what this message says, then run doctor again/,
  });
  t.match(check('link', { daemon: daemonView({ problem: 'no answer' }) }), { advice: /restart the daemon/ });
});

t.test('each way in which the control plane does not answer has its own advice', async (t) => {
  const url = 'https://sim.example';
  const of = (error: string) => ofHost('control_plane', { controlPlane: { url, error } });
  t.match(of('ENOTFOUND'), { verdict: 'problem', advice: /sim\.example was not found/ });
  t.match(of('ECONNREFUSED'), { verdict: 'problem', advice: /nothing listens/ });
  t.match(of('timeout'), { verdict: 'problem', advice: /firewall/ });
  t.match(of('CERT_HAS_EXPIRED'), { verdict: 'problem', advice: /"date"/ });
  t.match(of('DEPTH_ZERO_SELF_SIGNED_CERT'), { verdict: 'problem', advice: /does not trust/ });
  const answers = (status: number) =>
    ofHost('control_plane', { controlPlane: { url, status, clockDifferenceMs: 0 } });
  t.match(answers(503), { verdict: 'warning', seen: /503/ });
  t.match(answers(404), { verdict: 'warning', advice: /base URL/ });
});

t.test('the link, and a daemon that does not run', async (t) => {
  t.match(check('link', { daemon: daemonView({ link: 'away' }) }), { verdict: 'problem', seen: 'down' });
  t.match(check('link', { daemon: daemonView({ link: 'pending' }) }), {
    verdict: 'problem',
    seen: /waits for approval/,
    advice: /node approve .*within three seconds/,
  });
  const ended = (code: number, status: number | null = null, reason = '') =>
    check('link', { daemon: daemonView({ link: 'away', linkFailure: { code, status, reason } }) });
  for (const failed of [ended(4401), ended(1006, 401)])
    t.match(failed, { verdict: 'problem', seen: /does not accept the key/, advice: /enroll .*--replace/ });
  for (const failed of [ended(4403), ended(1006, 403)])
    t.match(failed, { seen: /an operator revoked/, advice: /node add .*--replace/ });
  t.match(ended(4409), { seen: /another daemon connected/, advice: /Stop one of them/ });
  t.match(ended(4426), { seen: /version/ });
  t.match(ended(1006, 404), { seen: /404/, advice: /base URL/ });
  t.match(ended(1006, null, 'connect ECONNREFUSED'), {
    seen: 'down: connect ECONNREFUSED',
    advice: / logs /,
  });
  t.match(ended(1001), { seen: 'down (code 1001)' });
  t.match(check('link', { daemon: daemonView({ isDaemonRunning: false }) }), {
    verdict: 'warning',
    advice: /systemctl start/,
  });
  t.match(check('link', { daemon: daemonView({ problem: 'no rights on the socket' }) }), {
    verdict: 'problem',
    seen: /rights/,
  });
});

t.test('a clock that is wrong', async (t) => {
  const at = (clockDifferenceMs: number) => ({ url: 'https://sim.example', status: 200, clockDifferenceMs });
  t.match(ofHost('clock', { controlPlane: at(3_600_000) }), { verdict: 'warning', seen: /3600 s behind/ });
  t.match(ofHost('clock', { controlPlane: at(-90_000) }), { verdict: 'warning', seen: /90 s ahead/ });
  t.match(ofHost('clock', { isClockSynchronized: false }), { verdict: 'warning', advice: /set-ntp/ });
  t.match(ofHost('clock', { controlPlane: undefined, isClockSynchronized: undefined }), {
    verdict: 'skipped',
  });
});

t.test('ModemManager that no rule keeps away, and rules that are missing', async (t) => {
  const { programs } = hostView();
  const withManager = {
    programs: { ...programs, processes: [{ pid: 812, name: 'ModemManager', devices: [] }] },
  };
  t.match(ofHost('modem_manager', withManager), { verdict: 'ok' });
  const udevRules = { ignoredByModemManager: new Set<string>(), awake: new Set(['2c7c']) };
  t.match(ofHost('modem_manager', { ...withManager, udevRules }), {
    verdict: 'warning',
    seen: /pid 812.*2c7c/,
    advice: /udev rules.*ModemManager/,
  });
  t.match(ofHost('modem_manager', { ...withManager, udevRules, isSimulated: true }), { verdict: 'skipped' });
  t.match(ofHost('udev_rules', { udevRules }), { verdict: 'warning', seen: /2c7c/ });
  t.match(ofHost('udev_rules', { udevRules, isSimulated: true }), { verdict: 'skipped' });
});

t.test('sound cards without the programs that hear them', async (t) => {
  const place = { ports: [], audio: { card: 'card1' } };
  const host = hostView({ missingSoundPrograms: ['arecord'] });
  t.match(check('sound_programs', { host, slots: [slotView({ place })] }), {
    verdict: 'problem',
    advice: /alsa-utils/,
  });
  t.match(check('sound_programs', { host }), { verdict: 'skipped' });
});

t.test('no modem, and two of one IMEI', async (t) => {
  t.match(check('modems', { slots: [] }), { verdict: 'problem', advice: /lsusb/ });
  const place = { ports: ['/dev/ttyUSB9'] };
  t.match(
    check('modems', {
      slots: [slotView({ device: undefined, nodes: [], place, modem: { why: 'absent', wasTried: false } })],
    }),
    {
      verdict: 'problem',
      seen: 'no modem found: /dev/ttyUSB9 does not exist',
    },
  );
  for (const unread of [{ configurationProblem: 'node.yaml:3' }, { problem: 'no answer in 10 s' }])
    t.match(check('modems', { slots: [], daemon: daemonView(unread) }), { verdict: 'skipped' });
  const slots = [slotView(), slotView({ name: '1-1.2', slot: slotOf({ slot: '1-1.2', usb_path: '1-1.2' }) })];
  t.match(check('modems', { slots }), { verdict: 'warning', seen: '1-1.1 and 1-1.2 report the same IMEI' });
  const different = [slotView(), slotView({ name: '1-1.2', slot: slotOf({ device_id: '867698040000025' }) })];
  t.match(check('modems', { slots: different }), { verdict: 'ok', seen: /share a serial number/ });
});
