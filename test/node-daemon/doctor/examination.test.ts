// The classic traps, played by the simulator's modems and found over their real ports.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import t from 'tap';
import { ok } from '#hardware-sim/at/answer.ts';
import { commandFamily, forms } from '#hardware-sim/behaviors/behavior.ts';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { OtherProgramError } from '#shared/operator/operator-client.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { findingOf, startExaminedRack, unwellIn } from './examined-rack.ts';
import { slotOf } from './seen.ts';

t.test('healthy modems of each make: nothing to do but start the daemon', async (t) => {
  const { examine } = await startExaminedRack(t, {
    modems: 3,
    makes: ['quectel', 'simcom', 'huawei-e303'],
  });
  const report = await examine();
  t.same(report.slots, ['1-1.1', '1-1.2', '1-1.3']);
  const unwell = report.findings.filter(({ verdict }) => verdict === 'warning' || verdict === 'problem');
  t.same(
    // Those two depend on the machine.
    unwell.filter(({ check }) => check !== 'clock' && check !== 'threads').map(({ check }) => check),
    ['link'],
  );
  t.match(
    findingOf(report, 'audio_loop', '1-1.1'),
    { verdict: 'ok' },
    'a tone went through the PTY and back',
  );
  t.match(findingOf(report, 'gps_in_audio', '1-1.2'), { verdict: 'ok' });
});

t.test('wrong host settings are found in the kernel’s own files', async (t) => {
  const { examine, modem, sysfs } = await startExaminedRack(t, {
    modems: 3,
    makes: ['quectel', 'huawei', 'quectel'],
  });
  writeFileSync(sysfs('1-1.1', 'power/control'), 'auto\n');
  writeFileSync(sysfs('1-1.1', 'speed'), '12\n');
  writeFileSync(sysfs('1-1', 'bmAttributes'), '80\n');
  modem(1).play(parseFault({ kind: 'storage' }));
  writeFileSync(sysfs('1-1.3', 'bConfigurationValue'), '\n');
  const report = await examine();
  t.match(findingOf(report, 'autosuspend', '1-1.1'), {
    verdict: 'warning',
    advice: /1-1\.1\/power\/control/,
  });
  t.match(findingOf(report, 'usb_speed', '1-1.1'), { verdict: 'warning' });
  t.match(findingOf(report, 'usb_power', '1-1.1'), { verdict: 'problem', seen: /no power supply/ });
  t.match(findingOf(report, 'usb_power', '1-1.3'), { verdict: 'problem', seen: /too little power/ });
  t.match(findingOf(report, 'usb_mode', '1-1.2'), { verdict: 'problem', advice: /usb_modeswitch -v 12d1/ });
  t.match(findingOf(report, 'port', '1-1.2'), { verdict: 'skipped' });
  t.match(
    findingOf(report, 'registration', '1-1.1'),
    { verdict: 'ok' },
    'the others are examined all the same',
  );
});

t.test('a SIM for VoLTE alone, one that is refused, a PIN, a weak signal, a full card', async (t) => {
  const rack = await startExaminedRack(t, {
    modems: 5,
  });
  const { examine, modem } = rack;
  modem(0).equipment.flash.set('+QCFG ims', '2');
  modem(0).play(parseFault({ kind: 'volte_only' }));
  modem(1).play(parseFault({ kind: 'denied', cause: 11 }));
  modem(2).play(parseFault({ kind: 'sim', state: 'pin' }));
  modem(3).play(parseFault({ kind: 'signal', rssi: 5 }));
  modem(4).play(parseFault({ kind: 'capacity', SM: 1 }));
  modem(4).play(parseFault({ kind: 'delete_fails', count: 1000 }));
  const to = modem(4).identity.number;
  rack.simulator.carrier.send({ from: 'BANK', to, body: 'stays' });
  const report = await examine();
  t.match(findingOf(report, 'volte', '1-1.1'), { verdict: 'problem', advice: /AT\+QCFG="ims",1/ });
  t.match(findingOf(report, 'registration', '1-1.1'), { verdict: 'ok' });
  t.match(findingOf(report, 'registration', '1-1.2'), {
    verdict: 'problem',
    seen: /does not accept the card \(denied_plmn\)/,
  });
  t.match(findingOf(report, 'sim', '1-1.3'), { verdict: 'problem', seen: /3 attempts left/ });
  t.match(findingOf(report, 'signal', '1-1.4'), { verdict: 'warning', seen: /-103 dBm/ });
  t.match(findingOf(report, 'storage', '1-1.5'), { verdict: 'problem', seen: /SM 1 of 1/ });
  t.notMatch(JSON.stringify(report), /\+1206|89010|8675880|8676980/, 'no number, ICCID or IMEI');
});

t.test(
  'audio: SIM7600 at 16 kHz that does not take another setting, GPS text, a Quectel at 16 kHz',
  async (t) => {
    const { examine, modem } = await startExaminedRack(t, {
      modems: 3,
      makes: ['simcom', 'quectel', 'quectel'],
    });
    modem(0).define(
      commandFamily('stubborn', {
        '+CPCMBANDWIDTH': forms({ read: () => ok('+CPCMBANDWIDTH: 0,1') }),
      }),
    );
    // Older firmware does not know the setting that keeps them apart.
    modem(1).define(commandFamily('old', { '+QGPSCFG': () => ({ kind: 'error' }) }));
    modem(1).play(parseFault({ kind: 'nmea_in_pcm', every_ms: 200 }));
    modem(2).voice.stored.nextRateHz = 16_000;
    const report = await examine();
    t.match(findingOf(report, 'audio_settings', '1-1.1'), {
      verdict: 'warning',
      seen: /16 kHz in calls over VoLTE/,
    });
    t.match(findingOf(report, 'gps_in_audio', '1-1.2'), { verdict: 'problem', advice: /QGPSCFG/ });
    t.match(findingOf(report, 'audio_settings', '1-1.3'), { verdict: 'problem', advice: /QDAI/ });
  },
);

t.test(
  'the loop: octets that are lost make noise of the tone, a modem that refuses is left alone',
  async (t) => {
    const { examine, modem } = await startExaminedRack(t, { modems: 2 });
    modem(0).play(parseFault({ kind: 'pcm_byte_shift', direction: 'to_host', count: 1 }));
    modem(1).play(parseFault({ kind: 'pcm_refused' }));
    const report = await examine();
    t.match(findingOf(report, 'audio_loop', '1-1.1'), { verdict: 'problem' });
    t.match(findingOf(report, 'audio_loop', '1-1.2'), { verdict: 'skipped', seen: /refused AT\+QPCMV=1,0/ });
    t.equal(modem(0).equipment.settings.kept.get('+QAUDLOOP'), '0', 'it is switched off again');
    t.equal(modem(0).voice.hostAudio.route, undefined);
  },
);

t.test('another program has locked the port: its name, and what to do', async (t) => {
  const { examine, settings } = await startExaminedRack(t, { modems: 2 });
  const port = `${settings.devRoot}/ttyUSB2`;
  // As a program that knows nothing of us: opened, and locked as minicom and others do.
  const holder = spawn(
    'python3',
    [
      '-c',
      `import fcntl,os,sys; f=os.open(${JSON.stringify(port)}, os.O_RDWR|os.O_NOCTTY); fcntl.flock(f, fcntl.LOCK_EX); print("held", flush=True); sys.stdin.read()`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  const report = await examine();
  const finding = findingOf(report, 'port_holder', '1-1.1');
  t.match(finding, { verdict: 'problem', seen: new RegExp(`\\(pid ${holder.pid}\\) has ${port}`) });
  t.match(findingOf(report, 'port', '1-1.1'), { verdict: 'problem', seen: 'cannot be opened' });
  t.same(unwellIn(report, '1-1.2'), []);
});

t.test('a modem that hangs costs no other modem anything, and the examination ends in time', async (t) => {
  const { examine, modem } = await startExaminedRack(t, { modems: 3 });
  modem(0).play(parseFault({ kind: 'silent' }));
  modem(1).play(parseFault({ kind: 'not_reading' }));
  const report = await examine();
  for (const slot of ['1-1.1', '1-1.2']) {
    t.match(findingOf(report, 'port', slot), { verdict: 'problem', advice: /plug/ });
    t.match(findingOf(report, 'signal', slot), { verdict: 'skipped' });
  }
  t.same(unwellIn(report, '1-1.3'), []);
  t.ok(report.duration_ms < 20_000, `${report.duration_ms} ms`);
});

t.test('a slow modem: what it was not asked is not held against it', async (t) => {
  const { examine, modem } = await startExaminedRack(t, { modems: 1 });
  modem(0).play(parseFault({ kind: 'slow_answer', ms: 600, count: 1_000 }));
  t.match(findingOf(await examine(), 'port', '1-1.1'), {
    verdict: 'warning',
    seen: /^some queries were not made: it answers slowly/,
  });
});

t.test('an audio port that hangs in the kernel', async (t) => {
  const { examine } = await startExaminedRack(t, { modems: 2, makes: ['simcom', 'huawei'] });
  const report = await examine({
    openPort: (path) =>
      path.endsWith('ttyUSB4') ? new Promise(() => undefined) : Promise.reject(new Error('no such device')),
  });
  t.match(findingOf(report, 'gps_in_audio', '1-1.1'), { verdict: 'skipped', seen: 'took too long' });
  t.match(findingOf(report, 'gps_in_audio', '1-1.2'), { verdict: 'skipped', seen: /no such device/ });
  for (const slot of report.slots) t.same(unwellIn(report, slot), []);
});

t.test('no USB tree at all, a rack that cannot be opened, a configuration that is wrong', async (t) => {
  const { examine, settings } = await startExaminedRack(t, { modems: 1 });
  const refused = await examine({ openRack: () => Promise.reject(new Error('no rights on the socket')) });
  t.match(findingOf(refused, 'link'), { verdict: 'problem', seen: 'no rights on the socket' });
  const other = new OtherProgramError('/data/operator.sock', 'control-plane', 'node-daemon');
  t.match(findingOf(await examine({ openRack: () => Promise.reject(other) }), 'link'), {
    seen: '/data/operator.sock belongs to the control plane, not to the daemon',
    advice: 'Name the data folder of the daemon with --data-dir or DATA_DIR.',
  });
  t.match(findingOf(refused, 'usb_mode', '1-1.1'), { verdict: 'ok' }, 'the device is seen all the same');
  t.match(
    findingOf(refused, 'port', '1-1.1'),
    { verdict: 'skipped', seen: /not queried/ },
    'nothing was tried',
  );
  const silentDaemon = await examine({
    openRack: async () => ({
      isRunningDaemon: true,
      slots: async () => [slotOf({ state: 'starting' })],
      at: () => Promise.reject(new OperatorError('unavailable', '1-1.1 is starting')),
      link: async () => ({ state: 'linked' as const }),
    }),
  });
  t.match(findingOf(silentDaemon, 'port', '1-1.1'), {
    verdict: 'warning',
    seen: 'not queried: 1-1.1 is starting',
  });
  const misconfigured = await examine({ configurationProblem: 'node.yaml:1:1: slots: must be a list' });
  t.match(findingOf(misconfigured, 'configuration'), { verdict: 'problem' });
  t.match(findingOf(misconfigured, 'port', '1-1.1'), { verdict: 'skipped', seen: /not queried/ });
  Object.assign(settings, { config: { ...settings.config, discover: false } });
  const unnamed = await examine();
  t.match(findingOf(unnamed, 'port', '1-1.1'), { verdict: 'skipped', seen: /discover is off/ });
  Object.assign(settings, { sysfsRoot: '/nowhere' });
  const blind = await examine();
  t.match(findingOf(blind, 'modems'), { verdict: 'problem' });
});
