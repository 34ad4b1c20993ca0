// The configuration file: what it means, and an exact word for everything that is wrong in it.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DEFAULT_CONFIG_PATH, parseConfig, readConfigFile } from '#node-daemon/config/config-file.ts';
import { DEFAULT_CONFIG } from '#node-daemon/config/node-config.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const EXAMPLE = join(PROJECT_FOLDER, 'node-daemon/config/node-daemon.example.yaml');

function problemsOf(text: string): string[] {
  try {
    parseConfig(text, 'node.yaml');
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return [];
}

t.test('the example is a valid configuration with the values that it seems to have', async (t) => {
  const config = readConfigFile(EXAMPLE);
  t.same(config.slots, [
    { name: 'top-left', imei: '867698040000017' },
    { name: 'top-right', usbPath: '1-1.2' },
    { name: 'bench', port: '/dev/ttyS0' },
  ]);
  t.match(config, { dataDir: '/var/lib/simrack', logLevel: 'info', discover: true, metricsPort: 9464 });
  t.same(config.ignore, [{ usbPath: '1-1.4' }, { usbId: { vendor: '12d1', product: '1f01' } }]);
  t.same(config.sendLimits, {
    perSim: { perMinute: 10, perHour: 200, perDay: 1000 },
    perDestination: { perMinute: 2, perHour: 20, perDay: 100 },
  });
  t.same(config.recovery, {
    usbReset: 'authorized',
    powerCycle: ['/usr/local/bin/relay', 'cycle', '{hub}', '{port}'],
    perHour: { radio: 6, restart: 4, usbReset: 3, powerCycle: 2 },
  });
  t.equal(config.modeSwitch?.[0], 'usb_modeswitch');
});

t.test('a PIN keeps its zeros and an ICCID its digits, quoted or not', async (t) => {
  const { sims } = parseConfig(
    'sim_pin: 0012\nsims:\n  8901000000000000017: { pin: 0123, number: +12065550100 }\n',
    'node.yaml',
  );
  t.equal(sims.pinOf('8901000000000000017'), '0123');
  t.equal(sims.numberOf('8901000000000000017'), '+12065550100');
  t.equal(sims.pinOf('8901000000000000025'), '0012');
  t.equal(sims.pinOf(undefined), undefined, 'it may be the card that has its own');
  t.equal(parseConfig('sim_pin: "0012"', 'node.yaml').sims.pinOf(undefined), '0012');
  t.equal(sims.numberOf('8901000000000000025'), undefined);
});

t.test('without a file, and with an empty one, everything has its default', async (t) => {
  t.same(parseConfig('', 'node.yaml'), DEFAULT_CONFIG);
  t.same(parseConfig('# nothing\n', 'node.yaml'), DEFAULT_CONFIG);
  t.equal(DEFAULT_CONFIG.discover, undefined);
});

t.test('a file that is named must be there', async (t) => {
  t.throws(() => readConfigFile('/nowhere/node.yaml'), {
    name: 'ConfigFileError',
    message: '/nowhere/node.yaml: does not exist',
  });
  const folder = temporaryFolder(t);
  const path = join(folder, 'node.yaml');
  writeFileSync(path, 'discover: maybe\n');
  t.throws(() => readConfigFile(path), { message: `${path}:1:11: discover: must be one of true, false` });
});

t.test('each problem has its place, its key and what is allowed', async (t) => {
  const slot = 'must be a slot name: 1 to 64 letters, digits, ".", "_" and "-"';
  for (const [text, ...problems] of [
    ['slots:\n  - name: a b\n    imei: 123456789012345', `2:11: slots[0].name: ${slot}`],
    ['slots:\n  - imei: 123456789012345', `2:5: slots[0].name: is missing: ${slot}`],
    ['slots:\n  - name: a', '2:5: slots[0]: must have exactly one of imei, usb_path and port'],
    [
      'slots:\n  - name: a\n    imei: 123456789012345\n    port: /dev/x',
      '2:5: slots[0]: must have exactly one of imei, usb_path and port',
    ],
    [
      'slots:\n  - { name: a, usb_path: 1-2, audio_port: /dev/x }',
      '2:5: slots[0]: audio_port needs port: for a modem that is found over USB, its make determines the audio port',
    ],
    ['slots:\n  - { name: a, imei: 12 }', '2:22: slots[0].imei: must be an IMEI of 14 to 16 digits'],
    [
      'slots:\n  - { name: a, usb_path: 1-2 }\n  - { name: a, usb_path: 1-3 }',
      '3:13: slots[1].name: "a" occurs twice',
    ],
    [
      'slots:\n  - { name: a, usb_path: 1-2 }\n  - { name: b, usb_path: 1-2 }',
      '3:26: slots[1].usb_path: "1-2" occurs twice',
    ],
    [
      'slots:\n  - { name: a, port: /dev/ttyS0 }\n  - { name: b, port: /dev//ttyS0 }',
      '3:22: slots[1].port: "/dev/ttyS0" occurs twice',
    ],
    [
      'recovery:\n  power_cycle: [hub-power, "--port={prot}", "{hub}"]',
      '2:28: recovery.power_cycle[1]: {prot} is not a placeholder; use {usb_path}, {vendor}, {product}, {hub}, {port}',
    ],
    ['discover: true\n---\ndiscover: false', '2:1: must be one document, without "---"'],
    [
      'slots:\n  - { name: a, imei: 350000000000017 }\n  - { name: b, imei: 35000000000001 }',
      '3:22: slots[1].imei: "35000000000001" occurs twice',
    ],
    [
      'slots:\n  - { name: a, usb_path: ttyUSB2 }',
      '2:26: slots[0].usb_path: must be a USB path such as 1-1.2 (bus, ports)',
    ],
    ['slots: top', '1:8: slots: must be a list'],
    ['- 1', '1:1: must be a map'],
    ['slosts: []', '1:1: slosts: unknown key; did you mean slots?'],
    [
      'recovery:\n  usb-reset: off\n  power: [x]\n  relay: [x]',
      '2:3: recovery.usb-reset: unknown key; did you mean usb_reset?',
      '3:3: recovery.power: unknown key; did you mean power_cycle?',
      '4:3: recovery.relay: unknown key; allowed are usb_reset, power_cycle, limits_per_hour',
    ],
    ['sims:\n  89: {}', '2:3: sims.89: must be an ICCID: 18 to 22 digits'],
    [
      'sims:\n  8901000000000000017: { pni: 1 }',
      '2:26: sims.8901000000000000017.pni: unknown key; did you mean pin?',
    ],
    ['sim_pin: 12', '1:10: sim_pin: must be a PIN of 4 to 8 digits'],
    [
      'sms:\n  limits:\n    per_sim: { per_hour: 0 }',
      '3:26: sms.limits.per_sim.per_hour: must be a whole number from 1 to 1000000',
    ],
    [
      'discover: perhaps\nlog_level: loud',
      '1:11: discover: must be one of true, false',
      '2:12: log_level: must be one of debug, info, warn, error, silent',
    ],
    ['metrics: {}', '1:10: metrics.port: is missing: must be a whole number from 1 to 65535'],
  ] as const) {
    t.same(
      problemsOf(text),
      problems.map((problem) => `node.yaml:${problem}`),
      text,
    );
  }
});

t.test('invalid YAML is refused with its line', async (t) => {
  t.match(problemsOf('slots: [a\nb: c')[0], /^node\.yaml:\d+:\d+: /);
  t.match(problemsOf('a: 1\na: 2')[0], /^node\.yaml:2:1: Map keys must be unique/);
});

t.test('a PIN is never in a problem', async (t) => {
  t.notMatch(problemsOf('sim_pin: 99887766554433').join(), /9988/);
});

t.test('a misspelled key is one problem', async (t) => {
  t.strictSame(problemsOf('slots:\n  - {name: a, usb_path: 1-1.1}\n  - {name: b, usbpath: 1-1.2}\n'), [
    'node.yaml:3:15: slots[1].usbpath: unknown key; did you mean usb_path?',
  ]);
  t.strictSame(problemsOf('slots:\n  - {name: b}\n'), [
    'node.yaml:2:5: slots[0]: must have exactly one of imei, usb_path and port',
  ]);
});

t.test('the command that systemd runs before a reload', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'node-daemon.yaml');
  const check = (text: string) => {
    writeFileSync(file, text);
    return runProgram('node-daemon', ['check-config'], { NODE_CONFIG: file });
  };
  t.match(await check('slots:\n  - {name: top, usb_path: 1-1.1}\n'), { status: 0, stdout: /named slots: 1/ });
  const twice = 'slots:\n  - {name: top, usb_path: 1-1.1}\n  - {name: top, usb_path: 1-1.2}\n';
  t.match(await check(twice), {
    status: 1,
    stderr: /node-daemon\.yaml:3:12: slots\[1\]\.name: .*occurs twice/,
  });
  t.match(await runProgram('node-daemon', ['check-config', '--config', join(folder, 'none')], {}), {
    status: 1,
  });
  if (!existsSync(DEFAULT_CONFIG_PATH))
    t.match(await runProgram('node-daemon', ['check-config'], {}), {
      status: 0,
      stdout: /node-daemon\.yaml does not exist: the daemon uses the defaults/,
    });
});
