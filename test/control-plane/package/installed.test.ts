// The package of the service on a Debian host with the real systemd: installed, configured, killed, upgraded, rolled back, purged.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { blocksOf } from '../../docs/pages.ts';
import { addressOf } from '../../fixtures/database/postgres.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { servicePackage } from '../../fixtures/packages/built-packages.ts';
import { startDebianHost, whyNoDebianHost } from '../../fixtures/packages/debian-host.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { isWhole } from '../../fixtures/sweep.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const UNIT = 'simrack-control-plane';
const CONFIG = 'etc/simrack/control-plane.env';
const KEY = 'etc/simrack/relayer.key';
const WAIT_MS = 60_000;

/** The commands of docs/service/keys.md that make the first key and the next one. */
const KEY_COMMANDS = blocksOf(readFileSync(join(PROJECT_FOLDER, 'docs/service/keys.md'), 'utf8'))
  .filter(({ code }) => code.includes('control-plane relayer '))
  .map(({ code }) => code) as [string, string];

const skip = whyNoDebianHost() ?? false;
if (skip === false) {
  const rig = await createRig();
  t.test('the life of an installed service', (t) => life(t, rig));
} else t.pass(`not on a Debian host: ${skip}`, { skip: true });

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function life(t: Test, rig: Awaited<ReturnType<typeof createRig>>): Promise<void> {
  const packages = temporaryFolder(t);
  const [first, second] = [await servicePackage('0.1.0', packages), await servicePackage('0.1.1', packages)];
  const databaseUrl = await rig.postgres.createDatabase();
  const host = await startDebianHost(t);
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const put = (file: string): string => {
    copyFileSync(file, join(host.shared, 'package.deb'));
    return 'apt-get install -y -qq --no-install-recommends --allow-downgrades /srv/shared/package.deb 2>&1';
  };
  const property = async (name: string) => (await host.must(`systemctl show -P ${name} ${UNIT}`)).trim();
  const version = async () => (await host.must(`dpkg-query -W -f '\${Version}' ${UNIT}`)).trim();
  const isReady = async (): Promise<boolean> =>
    (await fetch(`${url}/health/ready`).catch(() => undefined))?.status === 200;
  const configure = (database: string): void => {
    const text = readFileSync(join(host.root, CONFIG), 'utf8').replace(/^(#?)(\w+)=.*\n/gm, '');
    const options = {
      // The Debian host has no folder with the server's socket.
      DATABASE_URL: `${addressOf(database).href}?application_name=simrack&connect_timeout=9`,
      DATA_DIR: '/var/lib/simrack',
      CHAIN_ID: '84532',
      RPC_URL: rig.chain.rpcUrl,
      PAY_TO: PAY_TO.address,
      RELAYER_KEY_FILE: `/${KEY}`,
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
    };
    const lines = Object.entries(options).map(([name, value]) => `${name}=${value}\n`);
    writeFileSync(join(host.root, CONFIG), text + lines.join(''));
  };

  // Each needs what the one before has left.
  const step = async (name: string, run: (t: Test) => Promise<void>): Promise<void> => {
    if (t.passing()) await t.test(name, run);
  };
  /** Steps that no later one needs. */
  const stepOfWhole = async (name: string, run: (t: Test) => Promise<void>): Promise<void> => {
    if (isWhole()) await step(name, run);
  };

  await step(
    'install: it says what is next, is enabled, and a start without a database is no failure',
    async (t) => {
      t.match(
        await host.must(put(first.file)),
        /1\. [\s\S]*simrack-control-plane check[\s\S]*systemctl start/,
      );
      t.equal(await property('UnitFileState'), 'enabled');
      await host.must(`systemctl start ${UNIT}`);
      t.same([await property('ActiveState'), await property('Result')], ['inactive', 'exec-condition']);
      t.equal((await host.must('simrack-control-plane --version')).trim(), '0.1.0');
      t.match(
        (await host.run('control-plane node list')).stderr,
        /DATABASE_URL: required: the package has no embedded/,
      );
      t.equal((await host.run(`dpkg --verify ${UNIT}`)).stdout, '');
    },
  );

  await step('configured: it checks itself, is ready once it serves, and runs as its own user', async (t) => {
    t.match(await host.must(KEY_COMMANDS[0]), /^0x\w{40}\n$/);
    t.equal((await host.must(`stat -c '%U:%G %a' /${KEY}`)).trim(), 'root:simrack-service 640');
    // The new one has no gas.
    writeFileSync(join(host.root, KEY), `${RELAYER.privateKey}\n`);
    configure(databaseUrl);
    t.match((await host.run('simrack-control-plane check 2>&1')).stdout, /checks: 0 problems/);
    await host.must(`systemctl start ${UNIT}`);
    t.ok(await isReady(), 'the start has waited for it');
    t.equal(await property('StatusText'), `serves ${url}`);
    const modes = await host.must(
      `stat -c '%n %U:%G %a' /${CONFIG} /var/lib/simrack /usr/bin/simrack-control-plane`,
    );
    t.same(modes.trim().split('\n'), [
      `/${CONFIG} root:simrack-service 640`,
      '/var/lib/simrack simrack-service:simrack-service 700',
      '/usr/bin/simrack-control-plane root:root 755',
    ]);
    t.equal((await host.must(`ps -o user= -p ${await property('MainPID')}`)).trim(), 'simrack-service');
    t.match(
      await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text(),
      /^simrack_database_up 1$/m,
    );
  });

  await step('commands of root have the options of the service, and reach it', async (t) => {
    t.match(await host.must('cd /root; simrack-control-plane node add rack'), /enroll/);
    t.match(await host.must('control-plane node list'), /rack/);
    t.match((await host.run('control-plane slot restart rack m1')).stderr, /rack/);
    t.match(await host.must(KEY_COMMANDS[1]), /RELAYER_FORMER_KEY_FILE=\/etc\/simrack\/relayer\.key/);
    t.match(await host.must('ls -l /etc/simrack/relayer-2.key'), /^-rw-r----- 1 root simrack-service /);
  });

  await stepOfWhole('systemd and man find nothing in unit and manual page', async (t) => {
    const verified = await host.must(`systemd-analyze verify /usr/lib/systemd/system/${UNIT}.service 2>&1`);
    t.equal(verified.replaceAll(/.*(man|postgresql|nats).*\n/g, ''), '');
    t.match(await host.must(`systemd-analyze security --threshold=30 --no-pager ${UNIT}`), /exposure level/);
    t.match(await host.must('man --warnings control-plane 2>&1'), /SIMRACK-CONTROL-PLANE/);
  });

  await step('the journal has text with priorities, and a trace shows sources', async (t) => {
    const lines = (
      await host.must(`journalctl -u ${UNIT} -o json --no-pager _UID=$(id -u simrack-service)`)
    ).trim();
    const entries = lines
      .split('\n')
      .map((line) => JSON.parse(line) as { MESSAGE: string; PRIORITY: string });
    t.ok(entries.some(({ MESSAGE, PRIORITY }) => PRIORITY === '6' && /service started/.test(MESSAGE)));
    t.notOk(entries.some(({ MESSAGE }) => /main\.mjs:\d|part-\w+\.mjs:\d/.test(MESSAGE)));
  });

  await stepOfWhole('kill -9: it is started again', async () => {
    await host.must(`systemctl kill --signal=KILL --kill-whom=main ${UNIT}`);
    await until('a restart', async () => Number(await property('NRestarts')) > 0, WAIT_MS);
    await until('it serves', isReady, WAIT_MS);
  });

  await step('an upgrade keeps the configuration and the data', async (t) => {
    await host.must(
      'install -d -o simrack-service -m 0700 /backups && simrack-control-plane backup /backups/before.backup',
    );
    const config = readFileSync(join(host.root, CONFIG), 'utf8');
    t.match(await host.must(put(second.file)), `The control plane runs: serves ${url}`);
    t.equal(await version(), '0.1.1');
    t.equal(readFileSync(join(host.root, CONFIG), 'utf8'), config);
    t.match(await host.must('control-plane node list'), /rack/);
  });

  await stepOfWhole('back to the version before, whose schema serves it', async (t) => {
    t.match(await host.must(put(first.file)), `The control plane runs: serves ${url}`);
    t.equal(await version(), '0.1.0');
    t.match(await host.must('control-plane node list'), /rack/);
  });

  await step('back after a schema that does not: it refuses, and a restored backup runs', async (t) => {
    await host.must(put(second.file));
    // As the migration of a later version leaves it.
    await query(
      databaseUrl,
      `insert into kysely_migration (name, timestamp) values ('0999-contract', now()::text)`,
    );
    await query(
      databaseUrl,
      `insert into schema_versions (name, serves) values ('0999-contract', '0999-contract')`,
    );
    const refused = await host.must(put(first.file));
    t.match(refused, 'The control plane does NOT run');
    t.match(
      await host.must(`journalctl -u ${UNIT} -n 20 --no-pager`),
      /restore a backup into a new database/,
    );
    await host.must(`systemctl stop ${UNIT}`);
    configure(await rig.postgres.createDatabase());
    await host.must('simrack-control-plane restore /backups/before.backup');
    await host.must(`systemctl start ${UNIT}`);
    t.ok(await isReady());
    t.match(await host.must('control-plane node list'), /rack/);
  });

  await step('removed, configuration and state stay; purged, they go, but not the keys', async (t) => {
    const pinKey = 'var/lib/simrack/pin.key';
    await host.must(`runuser -u simrack-service -- sh -c 'umask 077; echo key > /${pinKey}'`);
    await host.must(`apt-get remove -y -qq ${UNIT}`);
    t.equal((await host.run(`systemctl is-active ${UNIT}`)).stdout.trim(), 'inactive');
    for (const kept of [CONFIG, 'var/lib/simrack']) t.ok(existsSync(join(host.root, kept)), kept);
    const purged = await host.must(`apt-get purge -y -qq ${UNIT} 2>&1`);
    t.match(purged, /relayer\.key are still there/);
    t.match(purged, `/${pinKey} is still there`);
    t.notMatch(await host.must('ls -A /var/lib/simrack'), /^(?!.*\.key$).+$/m, 'nothing but keys');
    for (const gone of [CONFIG, `usr/lib/${UNIT}`, 'usr/bin/control-plane'])
      t.notOk(existsSync(join(host.root, gone)), gone);
    t.ok(existsSync(join(host.root, KEY)));
  });
}
