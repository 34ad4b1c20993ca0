// The package on a Debian host with the real systemd: installed, run, killed, hung, upgraded in mid-call, removed, purged.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { request } from '../../fixtures/network/json-request.ts';
import { writeIdentity } from '../../fixtures/nodes/enrolled-node.ts';
import { daemonPackage } from '../../fixtures/packages/built-packages.ts';
import { whyNoDebianHost } from '../../fixtures/packages/debian-host.ts';
import { startRackedHost, UNIT } from '../../fixtures/packages/installed-daemon.ts';
import { copyClone, rackRecipe } from '../../fixtures/packages/rack-recipe.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { type CallView, putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';
import { ScriptedControlPlane } from '../link/scripted-control-plane.ts';

const FAR = '+13105550188';
const ID = 'call-00000001';
const STATE = 'var/lib/simrack-node';
const WAIT_MS = 60_000;

t.test('the life of an installed daemon', { skip: whyNoDebianHost() ?? false }, async (t) => {
  const packages = temporaryFolder(t);
  const [plane, first, second] = await Promise.all([
    ScriptedControlPlane.start(),
    daemonPackage('0.1.0', packages),
    daemonPackage('0.1.1', packages),
  ]);
  t.teardown(() => plane.stop());
  // The unit's 30 s are 3 s here, so that the test does not wait for them.
  const { host, simulator } = await startRackedHost(t, 2, ['WatchdogSec=3']);
  const put = (file: string): string => {
    copyFileSync(file, join(host.shared, 'package.deb'));
    return 'apt-get install -y -qq --no-install-recommends --allow-downgrades /srv/shared/package.deb';
  };
  const property = async (name: string) => (await host.must(`systemctl show -P ${name} ${UNIT}`)).trim();
  const restarts = async (): Promise<number> => Number(await property('NRestarts'));
  const statusIs = (text: string) =>
    until(
      text,
      async () => (await property('StatusText')) === text && (await property('ActiveState')) === 'active',
      WAIT_MS,
    );

  // Each needs what the one before has left.
  const step = async (name: string, run: (t: Test) => Promise<void>): Promise<void> => {
    if (t.passing()) await t.test(name, run);
  };

  await step('install: it runs as its own user, is ready, and says that it is not enrolled', async (t) => {
    t.match(await host.must(put(first.file)), /The node daemon runs: [\s\S]*node-daemon enroll <url> <code>/);
    await statusIs('2 of 2 slots registered, not enrolled');
    const modes = await host.must(
      `stat -c '%n %U:%G %a' /usr/bin/node-daemon /etc/simrack/node-daemon.yaml /${STATE} /${STATE}/journal.log /run/simrack /usr/lib/simrack-node-daemon/serial-port.node`,
    );
    t.same(modes.trim().split('\n'), [
      '/usr/bin/node-daemon root:root 755',
      '/etc/simrack/node-daemon.yaml root:simrack 640',
      `/${STATE} simrack:simrack 700`,
      `/${STATE}/journal.log simrack:simrack 600`,
      '/run/simrack simrack:simrack 750',
      '/usr/lib/simrack-node-daemon/serial-port.node root:root 644',
    ]);
    t.match(await host.must('id simrack'), /audio.*dialout|dialout.*audio/);
    t.equal((await host.must(`ps -o user= -p ${await property('MainPID')}`)).trim(), 'simrack');
    t.equal(await property('UnitFileState'), 'enabled');
    t.same((await host.run('dpkg --verify simrack-node-daemon')).stdout, '');
  });

  await step(
    'a configuration that names no folder: service and tools have that of the package',
    async (t) => {
      await host.must(`sed -i '/^data_dir:/d' /etc/simrack/node-daemon.yaml && systemctl restart ${UNIT}`);
      await statusIs('2 of 2 slots registered, not enrolled');
      await host.must(`systemctl stop ${UNIT}`);
      t.match(
        (await host.run('node-daemon list')).stderr,
        `/${STATE} belongs to simrack. Run the command as that user: sudo -u simrack`,
      );
      t.equal((await host.must('node-daemon --version')).trim(), '0.1.0');
      await host.must(`systemctl start ${UNIT}`);
      await statusIs('2 of 2 slots registered, not enrolled');
    },
  );

  await step('the newest tools of Debian find nothing in unit, rules and manual page', async (t) => {
    t.equal(
      await host.must('udevadm verify --no-summary /usr/lib/udev/rules.d/60-simrack-modems.rules 2>&1'),
      '',
    );
    t.equal(
      (await host.must(`systemd-analyze verify /usr/lib/systemd/system/${UNIT}.service 2>&1`)).replaceAll(
        /.*(man|modprobe).*\n/g,
        '',
      ),
      '',
    );
    t.match(
      await host.must(`systemd-analyze security --threshold=30 --no-pager ${UNIT}.service`),
      /exposure level/,
    );
    t.match(await host.must('man --warnings node-daemon 2>&1'), /NODE-DAEMON/);
  });

  await step('a reset over USB can be written, other settings of the kernel cannot', async (t) => {
    const mounts = await host.must(`cat /proc/${await property('MainPID')}/mounts`);
    const optionsOf = (place: string) =>
      mounts
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([, at]) => at === place)
        .at(-1)?.[3];
    t.match(optionsOf('/sys/devices'), /^rw/);
    t.match(optionsOf('/proc/sys'), /^ro/);
  });

  await step('once it has an identity, which root wrote, it links', async () => {
    writeIdentity(join(host.root, STATE), plane.url);
    await statusIs('2 of 2 slots registered, linked');
  });

  await step('a reload with a bad file fails, and the log has the line; a good one is taken', async (t) => {
    const file = join(host.root, 'etc/simrack/node-daemon.yaml');
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, `${good}\nslots: [{name: twice, usb_path: 1-1.1}, {name: twice, usb_path: 1-1.2}]\n`);
    const failed = await host.run(`systemctl reload ${UNIT}`);
    t.not(failed.status, 0);
    t.match(failed.stderr, /^Job for simrack-node-daemon\.service failed/);
    t.match(
      await host.must(`journalctl -u ${UNIT} --no-pager`),
      /node-daemon\.yaml:\d+:\d+: slots\[1\]\.name: .*twice.* occurs twice/,
    );
    await statusIs('2 of 2 slots registered, linked');
    writeFileSync(file, good);
    await host.must(`systemctl reload ${UNIT}`);
    await until('it is reloaded', async () =>
      /configuration reloaded/.test(await host.must(`journalctl -u ${UNIT} --no-pager`)),
    );
  });

  await step('the journal has text with priorities', async (t) => {
    const lines = (await host.must(`journalctl -u ${UNIT} -o json --no-pager _UID=$(id -u simrack)`)).trim();
    const entries = lines
      .split('\n')
      .map((line) => JSON.parse(line) as { MESSAGE: string; PRIORITY: string });
    t.same(
      entries.filter(({ MESSAGE }) => /^(?:<\d>|\{"level")/.test(MESSAGE)),
      [],
    );
    t.ok(entries.some(({ MESSAGE, PRIORITY }) => PRIORITY === '6' && /link/.test(MESSAGE)));
  });

  await step('kill -9, and a process that hangs: it is started again', async (t) => {
    const before = await restarts();
    await host.must(`systemctl kill --signal=KILL --kill-whom=main ${UNIT}`);
    await until('a restart', async () => (await restarts()) > before, WAIT_MS);
    await statusIs('2 of 2 slots registered, linked');
    await host.must(`systemctl kill --signal=STOP --kill-whom=main ${UNIT}`);
    await until('the watchdog', async () => (await restarts()) > before + 1, WAIT_MS);
    await statusIs('2 of 2 slots registered, linked');
    t.match(await host.must(`journalctl -u ${UNIT} --no-pager`), /Watchdog timeout/);
  });

  await step('an upgrade lets a call end, and loses neither journal nor key', async (t) => {
    const key = readFileSync(join(host.root, STATE, 'identity.json'), 'utf8');
    const journalId = plane.framesOf('hello').at(-1)?.journal_id;
    const slot = plane
      .framesOf('slots')
      .at(-1)
      ?.slots.find(({ state }) => state === 'registered');
    await putFarEnd(simulator.url, FAR, { after_ms: 100 });
    t.match(await plane.command('dial', { call_id: ID, iccid: slot?.iccid, to: FAR }), { type: 'result' });
    await until('the call is up', () => plane.framesOf('call').some(({ call }) => call.state === 'active'));
    const links = plane.upgrades.length;
    const upgrade = host.run(put(second.file));
    await until('it stops', async () => (await property('SubState')) === 'stop-sigterm', WAIT_MS);
    t.match(await property('StatusText'), /^stopping after the last call|registered/);
    await post(`${simulator.url}/sms`, { from: FAR, to: slot?.number, body: 'in the middle' });
    await until('a message', () =>
      plane.factsOf('sms_received').some(({ body }) => body === 'in the middle'),
    );
    const up = ((await request(`${simulator.url}/calls`)).body as CallView[]).find(
      ({ state }) => state === 'answered',
    );
    t.ok(up, 'the call is still up');
    await request(`${simulator.url}/calls/${up?.id}`, { method: 'DELETE' });
    t.equal((await upgrade).status, 0);
    await until('the new daemon’s link', () => plane.upgrades.length > links, WAIT_MS);
    await statusIs('2 of 2 slots registered, linked');
    t.match(plane.factsOf('call_ended').at(-1), { call_id: ID, direction: 'outbound' });
    t.equal(readFileSync(join(host.root, STATE, 'identity.json'), 'utf8'), key);
    t.equal(plane.framesOf('hello').at(-1)?.journal_id, journalId);
    t.equal((await host.must(`dpkg-query -W -f '\${Version}' ${UNIT}`)).trim(), '0.1.1');
  });

  await step('on a simulated rack, as docs/operators/permissions.md has it', async (t) => {
    const { commands, dropIn } = rackRecipe();
    copyClone(join(host.root, 'opt/simrack'));
    await host.must(commands.slice(0, 2).join(' && '));
    await until('the rack', async () => (await host.run('test -e /srv/rack/m1-at')).status === 0, WAIT_MS);
    const folder = join(host.root, `etc/systemd/system/${UNIT}.service.d`);
    // After the one that this test began with.
    writeFileSync(join(folder, 'zz-override.conf'), dropIn);
    await host.must(`systemctl daemon-reload && ${commands[2]}`);
    await statusIs('2 of 2 slots registered, linked');
    const imeis = (await host.must('node-daemon list --json')).match(/"device_id": "\d+"/g);
    t.equal(imeis?.length, 2);
    t.match(await property('Environment'), /SYSFS_ROOT=\/srv\/rack\/sys/);
    const report = await host.run(
      'SYSFS_ROOT=/srv/rack/sys DEV_ROOT=/srv/rack/dev node-daemon doctor --verbose',
    );
    t.match(report.stdout, /usb_reset +the daemon may reset the USB device/);
    const mounts = await host.must(`cat /proc/${await property('MainPID')}/mounts`);
    t.match(mounts, / \/srv\/rack \S+ rw/, 'so a reset over USB can be written');
    await host.must(`rm /etc/systemd/system/${UNIT}.service.d/zz-override.conf && systemctl daemon-reload`);
    await host.must(`systemctl restart ${UNIT} && systemctl stop simrack-rack`);
    await statusIs('2 of 2 slots registered, linked');
  });

  await step('removed, the state stays; purged, it goes', async (t) => {
    mkdirSync(join(host.root, 'var/lib/other'));
    await host.must(`apt-get remove -y -qq ${UNIT}`);
    t.equal((await host.run(`systemctl is-active ${UNIT}`)).stdout.trim(), 'inactive');
    t.notOk(existsSync(join(host.root, 'usr/lib/simrack-node-daemon')));
    for (const kept of [`${STATE}/identity.json`, `${STATE}/journal.log`, 'etc/simrack/node-daemon.yaml'])
      t.ok(existsSync(join(host.root, kept)), kept);
    await host.must(put(second.file));
    await statusIs('2 of 2 slots registered, linked');
    await host.must(`apt-get purge -y -qq ${UNIT}`);
    for (const gone of [STATE, 'etc/simrack', 'usr/lib/simrack-node-daemon', 'usr/bin/node-daemon'])
      t.notOk(existsSync(join(host.root, gone)), gone);
    t.match((await host.run(`systemctl cat ${UNIT}`)).stderr, /No files found|not-found/);
  });
});
