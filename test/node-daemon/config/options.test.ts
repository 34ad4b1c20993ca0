// The daemon's options: defaults, and a clear word for each bad value.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { enrollCommand } from '#node-daemon/config/enroll-command.ts';
import { daemonOptions, dataDirOf, parseModemPort, settingsOf } from '#node-daemon/config/options.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const ports = (text: string) => daemonOptions.modemPorts.schema.safeParse(text);

t.test('ports have the name that is given or that of their file', async (t) => {
  t.same(parseModemPort('/dev/m0-at'), { slot: 'm0-at', path: '/dev/m0-at' });
  t.same(parseModemPort('top=/dev/serial/by-path/a=b'), { slot: 'top', path: '/dev/serial/by-path/a=b' });
  t.same(parseModemPort('/dev/a=b'), { slot: 'a=b', path: '/dev/a=b' });
  t.same(ports(' /dev/a , x=/dev/b,').data, [
    { slot: 'a', path: '/dev/a' },
    { slot: 'x', path: '/dev/b' },
  ]);
});

t.test('bad lists of ports say what is wrong', async (t) => {
  for (const [text, problem] of [
    ['', 'contains no port'],
    ['/a/x,/b/x', 'slot "x" occurs twice'],
    ['a=/dev/x,b=/dev/x', 'port "/dev/x" occurs twice'],
    ['a=', 'slot "a" has no path'],
    ['a b=/dev/x', '"a b" is not a slot name'],
  ] as const) {
    t.match(ports(text).error?.issues[0]?.message, problem);
  }
});

t.test('options that the file can also set stay undefined until it is read', async (t) => {
  const { config, dataDir, logLevel, modemPorts } = daemonOptions;
  for (const { schema } of [config, dataDir, logLevel, modemPorts])
    t.equal(schema.parse(undefined), undefined);
  t.notOk(dataDir.schema.safeParse('').success);
  t.notOk(logLevel.schema.safeParse('loud').success);
});

const NOTHING = { config: undefined, modemPorts: undefined, dataDir: undefined, logLevel: undefined };
const ROOTS = { sysfsRoot: '/sys', devRoot: '/dev' };

function fileWith(t: Test, text: string): string {
  const folder = temporaryFolder(t);
  const path = join(folder, 'node.yaml');
  writeFileSync(path, text);
  return path;
}

t.test('without configuration every modem that is found is used', async (t) => {
  const { config, ...settings } = settingsOf({ ...NOTHING, ...ROOTS });
  t.same(settings, { dataDir: 'data/node', logLevel: 'info', ...ROOTS });
  t.equal(config.discover, true);
  t.same(config.slots, []);
});

t.test('without a configured folder, the default of the package applies', async (t) => {
  const defaultDataDir = '/var/lib/packaged';
  t.equal(settingsOf({ ...NOTHING, ...ROOTS, defaultDataDir }).dataDir, defaultDataDir);
  t.equal(dataDirOf({ defaultDataDir }), defaultDataDir, 'enroll has the same');
  const config = fileWith(t, 'data_dir: /var/lib/node\n');
  t.equal(settingsOf({ ...NOTHING, ...ROOTS, config, defaultDataDir }).dataDir, '/var/lib/node');
  t.equal(dataDirOf({ config, defaultDataDir }), '/var/lib/node');
  t.equal(settingsOf({ ...NOTHING, ...ROOTS, config, defaultDataDir, dataDir: '/x' }).dataDir, '/x');
});

t.test('options win over the file, and the file over the defaults', async (t) => {
  const config = fileWith(t, 'data_dir: /var/lib/node\nlog_level: warn\n');
  t.match(settingsOf({ ...NOTHING, ...ROOTS, config }), { dataDir: '/var/lib/node', logLevel: 'warn' });
  t.match(settingsOf({ ...NOTHING, ...ROOTS, config, dataDir: '/x', logLevel: 'debug' }), {
    dataDir: '/x',
    logLevel: 'debug',
  });
  t.equal(dataDirOf({ config }), '/var/lib/node', 'enroll and daemon agree on the folder');
  t.equal(dataDirOf({ config, dataDir: '/x' }), '/x');
  t.equal(dataDirOf({}), 'data/node');
});

t.test(
  'ports of the options are slots, and then no others are searched for unless the file says so',
  async (t) => {
    const modemPorts = [{ slot: 'a', path: '/dev/a' }];
    const { config } = settingsOf({ ...NOTHING, ...ROOTS, modemPorts });
    t.same(config.slots, [{ name: 'a', port: '/dev/a' }]);
    t.equal(config.discover, false);
    const both = fileWith(t, 'discover: true\nslots: [{ name: b, imei: 350000000000017 }]\n');
    const joined = settingsOf({ ...NOTHING, ...ROOTS, config: both, modemPorts }).config;
    t.same(
      joined.slots.map(({ name }) => name),
      ['b', 'a'],
    );
    t.equal(joined.discover, true);
    const clash = fileWith(t, 'slots: [{ name: a, imei: 350000000000017 }]\n');
    t.throws(() => settingsOf({ ...NOTHING, ...ROOTS, config: clash, modemPorts }), {
      message: 'MODEM_PORTS: slot "a" is also in the configuration file. Remove one of them',
    });
  },
);

t.test('the command that enrolls a node names a folder that is not the usual one', async (t) => {
  const [checkout, packaged] = [{ isPackaged: false }, { isPackaged: true }];
  t.match(enrollCommand('data/node', checkout), /node-daemon enroll <url> <code>$/);
  t.equal(enrollCommand('/var/lib/simrack-node', packaged), 'node-daemon enroll <url> <code>');
  t.equal(enrollCommand('/srv/x', packaged), 'node-daemon enroll <url> <code> --data-dir /srv/x');
  t.match(enrollCommand("/srv/it's", checkout), / --data-dir '\/srv\/it'\\''s'$/);
});
