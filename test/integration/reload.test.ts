// SIGHUP: the daemon reads its file again. Slots come, change and go, and the others are not disturbed.
import { writeFile } from 'node:fs/promises';
import t from 'tap';
import { startDaemonOnRack } from '../fixtures/nodes/daemon-on-rack.ts';
import { until } from '../fixtures/until.ts';

t.test(
  'slots are renamed, added and removed, and a bad file changes nothing',
  { timeout: 300_000 },
  async (t) => {
    let log = '';
    const host = await startDaemonOnRack(t, {
      rack: { modems: 3 },
      config: 'slots:\n  - {name: left, usb_path: 1-1.1}\n',
      env: { LOG_LEVEL: 'info', LOG_FORMAT: 'json' },
      onLog: (text) => {
        log += text;
      },
    });
    const { configFile, daemon, plane, simulator } = host;
    const reported = () =>
      plane.frames.filter((frame) => frame.type === 'hello' || frame.type === 'slots').at(-1)?.slots ?? [];
    const names = (): string =>
      reported()
        .map(({ slot, state }) => `${slot} ${state}`)
        .sort()
        .join(', ');
    const reload = async (config: string, expected: string): Promise<void> => {
      await writeFile(configFile, config);
      daemon().kill('SIGHUP');
      await until(`${expected}; is ${names()}`, () => names() === expected, 30_000);
    };
    const opened = (): number => log.split('"modem opened"').length - 1;
    const [first, second, third] = simulator.modems.map(({ identity }) => identity);
    if (first === undefined || second === undefined || third === undefined) throw new Error('three modems');
    t.equal(names(), '1-1.2 registered, 1-1.3 registered, left registered');
    const before = opened();
    const seen = plane.frames.length;

    await reload(
      `slots:\n  - {name: top, usb_path: 1-1.1}\n  - {name: mine, imei: ${second.imei}}\n`,
      '1-1.3 registered, mine registered, top registered',
    );
    const number = '+12065550199';
    await reload(
      `slots:\n  - {name: mine, usb_path: 1-1.1}\n  - {name: top, imei: ${second.imei}}\nsims:\n  "${third.iccid}": {number: "${number}"}\n`,
      '1-1.3 registered, mine registered, top registered',
    );
    await until(
      'names swapped',
      () => reported().find(({ slot }) => slot === 'top')?.device_id === second.imei,
    );
    await until('the number', () => reported().find(({ iccid }) => iccid === third.iccid)?.number === number);
    t.equal(opened(), before, 'no modem was opened again');
    const states = plane.frames
      .slice(seen)
      .flatMap((frame) => (frame.type === 'slots' ? frame.slots.map(({ state }) => state) : []));
    t.ok(
      states.every((state) => state === 'registered'),
      'none was out of service for a moment',
    );

    const bad = 'slots:\n  - {name: top, usb_path: 1-1.1}\n  - {name: top, usb_path: 1-1.2}\n';
    await writeFile(configFile, bad);
    daemon().kill('SIGHUP');
    await until('refused', () => log.includes('configuration not reloaded'));
    t.match(log, /node-daemon\.yaml:3:12: slots\[1\]\.name: .*top.* occurs twice/);
    t.equal(names(), '1-1.3 registered, mine registered, top registered');

    await reload('discover: false\nslots:\n  - {name: mine, usb_path: 1-1.1}\n', 'mine registered');
    t.equal(opened(), before);
    await reload('ignore:\n  - usb_path: 1-1.1\n', '1-1.2 registered, 1-1.3 registered');
    t.ok(opened() > before, 'the missing port was tried again');

    t.notMatch(log, 'these changes need a restart');
    await writeFile(
      configFile,
      'destinations: [CA]\ndrain_seconds: 7\ncarrier_settings:\n  networks:\n    "310260": { apply: false }\n',
    );
    daemon().kill('SIGHUP');
    const warning = await until('a warning', () => /^.*these changes need a restart.*$/m.exec(log)?.[0]);
    t.same(
      (JSON.parse(warning) as { changed: string[] }).changed.sort(),
      ['carrier_settings', 'destinations', 'drain_seconds'],
      'by the names of the file',
    );
    t.equal(daemon().exitCode, null);
  },
);
