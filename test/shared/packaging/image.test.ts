// The OCI image of the service, unpacked by another program and run in namespaces: not as root, and ended cleanly by SIGTERM.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { IMAGE } from '#control-plane/package/debian-package.ts';
import { buildImage } from '#shared/packaging/oci-image.ts';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { addressOf } from '../../fixtures/database/postgres.ts';
import { skipWithout } from '../../fixtures/foreign-program.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { servicePackage } from '../../fixtures/packages/built-packages.ts';
import { whyNoDebianHost } from '../../fixtures/packages/debian-host.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

interface Process {
  user: { uid: number; gid: number };
  args: string[];
  env: string[];
}

const skip = whyNoDebianHost() ?? skipWithout('umoci', '--version');
if (skip === false) {
  const rig = await createRig();
  t.test('the image of the service', (t) => served(t, rig));
} else t.pass(`no image: ${skip}`, { skip: true });

async function served(t: Test, rig: Awaited<ReturnType<typeof createRig>>): Promise<void> {
  const folder = temporaryFolder(t);
  const { file } = await servicePackage('0.1.0', folder);
  const image = buildImage(IMAGE, { file, version: '0.1.0', out: folder, builtAt: 1_790_000_000 });
  const bundle = join(folder, 'bundle');
  execFileSync('umoci', ['unpack', '--image', image, bundle], { stdio: 'ignore' });
  const { process: spec } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')) as {
    process: Process;
  };
  t.ok(spec.user.uid > 0 && spec.user.gid > 0, 'not root');

  const port = await freePort();
  const options = {
    // The root of the image has no folder with the server's socket.
    DATABASE_URL: addressOf(await rig.postgres.createDatabase()).href,
    RPC_URL: rig.chain.rpcUrl,
    PAY_TO: PAY_TO.address,
    RELAYER_KEY: RELAYER.privateKey,
    PORT: String(port),
    HOST: '127.0.0.1',
  };
  const env = [...spec.env, ...Object.entries(options).map(([name, value]) => `${name}=${value}`)];
  const words = [
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    `--root=${join(bundle, 'rootfs')}`,
    '--mount-proc',
  ];
  const user = [`--reuid=${spec.user.uid}`, `--regid=${spec.user.gid}`, '--clear-groups'];
  const child = spawn('unshare', [...words, 'setpriv', ...user, 'env', '-i', ...env, ...spec.args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  await until('it serves', async () => {
    if (child.exitCode !== null) throw new Error(output);
    return (await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined))?.status === 200;
  });
  const inner = execFileSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).trim();
  const uids = /^Uid:\s+(\d+)\s+(\d+)/m.exec(readFileSync(`/proc/${inner}/status`, 'utf8'));
  t.same(uids?.slice(1), [String(spec.user.uid), String(spec.user.uid)]);
  const exit = once(child, 'exit');
  process.kill(Number(inner), 'SIGTERM');
  t.same(await exit, [0, null], 'SIGTERM ends it cleanly');
}
