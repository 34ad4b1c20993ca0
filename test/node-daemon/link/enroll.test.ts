// Enrollment on the node: interrupted anywhere, the same command is the same enrollment; the daemon sees what came of it.
import { spawn, spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { readEnrollment } from '#node-daemon/doctor/seen/data-folder.ts';
import { enroll } from '#node-daemon/link/enroll.ts';
import { IdentityFile, isPlainUrl } from '#node-daemon/link/identity.ts';
import { MediaLink } from '#node-daemon/link/media-link.ts';
import { systemClock } from '#shared/clock.ts';
import { type Logger, silentLogger } from '#shared/log.ts';
import { served } from '../../fixtures/network/served.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const CODE = '7KQ2M-0000A-1111B-2222C';
const OTHER_CODE = '7KQ2M-0000A-1111B-2222D';

/** A control plane that burns each code for the first key that shows it. `answers` may lose what it says. */
async function startPlane(t: Test) {
  const keys = new Map<string, string>();
  const plane = { url: '', keys, answers: true, requests: 0, upgrades: 0 };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    plane.requests += 1;
    const { code, public_key: key } = JSON.parse(await text(request)) as { code: string; public_key: string };
    if (!keys.has(code)) keys.set(code, key);
    if (!plane.answers) request.socket.destroy();
    else if (keys.get(code) === key) response.end(JSON.stringify({ node_id: 'lab' }));
    else response.writeHead(403).end(JSON.stringify({ error: 'enrolment_refused', message: 'no' }));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.on('upgrade', (_request, socket) => {
    plane.upgrades += 1;
    socket.destroy();
  });
  plane.url = await served(t, server);
  return plane;
}

const identityIn = (folder: string): Record<string, string> =>
  JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8'));

t.test('the key is made here, its private half stays, and only its owner may read it', async (t) => {
  const plane = await startPlane(t);
  const folder = temporaryFolder(t);
  t.match(await enroll({ folder, url: `${plane.url}/`, code: CODE }), { nodeId: 'lab' });
  const { node_id, control_plane_url, private_key } = identityIn(folder);
  t.match({ node_id, control_plane_url }, { node_id: 'lab', control_plane_url: plane.url });
  const publicKey = createPublicKey(String(private_key)).export({ format: 'jwk' });
  t.match(publicKey, { kty: 'OKP', crv: 'Ed25519' });
  t.equal([...plane.keys.values()][0], publicKey.x);
  t.equal(statSync(join(folder, 'identity.json')).mode & 0o777, 0o600);
  t.same(readdirSync(folder), ['identity.json'], 'and nothing is left over');
});

t.test('a lost answer: the same command again has the same key', async (t) => {
  const plane = await startPlane(t);
  const folder = temporaryFolder(t);
  plane.answers = false;
  await t.rejects(enroll({ folder, url: plane.url, code: CODE }), /Run the same command again/);
  t.notOk(existsSync(join(folder, 'identity.json')));
  plane.answers = true;
  t.match(await enroll({ folder, url: plane.url, code: CODE }), { nodeId: 'lab' });
  t.equal(plane.keys.size, 1);
});

t.test(
  'after a kill before the answer was kept, or before the preparation was removed, the same command works',
  async (t) => {
    const plane = await startPlane(t);
    const folder = temporaryFolder(t);
    await enroll({ folder, url: plane.url, code: CODE });
    const kept = identityIn(folder);
    const prepared = JSON.stringify({ ...kept, node_id: 'pending' });
    writeFileSync(join(folder, 'enrolment.json'), prepared);
    t.match(await enroll({ folder, url: plane.url, code: CODE }), { nodeId: 'lab' }, 'both are there');
    rmSync(join(folder, 'identity.json'));
    writeFileSync(join(folder, 'enrolment.json'), prepared);
    t.match(
      await enroll({ folder, url: plane.url, code: CODE }),
      { nodeId: 'lab' },
      'only what was prepared is there',
    );
    t.same(identityIn(folder), kept);
    writeFileSync(join(folder, 'identity.json.new'), 'half of a fi');
    t.match(
      await enroll({ folder, url: plane.url, code: CODE }),
      { nodeId: 'lab' },
      'a torn new file is there',
    );
    t.same(identityIn(folder), kept);
  },
);

t.test('a new code makes a new key, also where the old one is damaged', async (t) => {
  const plane = await startPlane(t);
  const folder = temporaryFolder(t);
  await enroll({ folder, url: plane.url, code: CODE });
  await enroll({ folder, url: plane.url, code: OTHER_CODE, mayReplace: true });
  t.equal(new Set(plane.keys.values()).size, 2);
  writeFileSync(join(folder, 'identity.json'), '{"node_id":');
  await t.rejects(enroll({ folder, url: plane.url, code: OTHER_CODE }), /no/, 'its key is lost');
  await enroll({ folder, url: plane.url, code: '7KQ2M-0000A-1111B-2222E' });
  t.match(identityIn(folder), { node_id: 'lab' });
});

t.test('an attempt that fails leaves the identity that was there', async (t) => {
  const plane = await startPlane(t);
  const folder = temporaryFolder(t);
  await enroll({ folder, url: plane.url, code: CODE });
  const kept = identityIn(folder);
  plane.answers = false;
  await t.rejects(enroll({ folder, url: plane.url, code: OTHER_CODE, mayReplace: true }), /does not answer/);
  t.same(identityIn(folder), kept);
});

t.test('the key of a folder is replaced only on request', async (t) => {
  const plane = await startPlane(t);
  const folder = temporaryFolder(t);
  await enroll({ folder, url: plane.url, code: CODE });
  const kept = identityIn(folder);
  await t.rejects(enroll({ folder, url: plane.url, code: OTHER_CODE }), {
    message: new RegExp(`^${folder} is the data folder of node lab at ${plane.url}.*--data-dir.*--replace`),
  });
  t.same(identityIn(folder), kept);
  t.same(readdirSync(folder), ['identity.json']);
  t.equal(plane.keys.size, 1, 'the code is unused');
  await enroll({ folder, url: plane.url, code: OTHER_CODE, mayReplace: true });
  t.not(identityIn(folder)['private_key'], kept['private_key']);
});

t.test(
  'a running daemon sees within seconds that it was enrolled, enrolled again, and damaged',
  async (t) => {
    const plane = await startPlane(t);
    const folder = join(temporaryFolder(t), 'node');
    mkdirSync(folder);
    const identity = new IdentityFile({ folder, clock: systemClock, log: silentLogger });
    t.teardown(() => identity.close());
    let changes = 0;
    await identity.open();
    identity.onChange(() => {
      changes += 1;
    });
    t.equal(identity.current, undefined);
    await enroll({ folder, url: plane.url, code: CODE });
    await until('the identity', () => identity.current?.nodeId === 'lab');
    const { current } = identity;
    await enroll({ folder, url: plane.url, code: OTHER_CODE, mayReplace: true });
    await until('the new key', () => identity.current !== current);
    t.equal(changes, 2);
    writeFileSync(join(folder, 'identity.json'), '{');
    await until('no identity', () => identity.current === undefined);
  },
);

t.test('https where there is no TLS: the error says so', async (t) => {
  const { url } = await startPlane(t);
  const folder = temporaryFolder(t);
  await t.rejects(
    enroll({ folder, url: url.replace('http:', 'https:'), code: CODE }),
    /does not support TLS. Did you mean http/,
  );
});

t.test('a port that HTTP clients block is named, and no repetition is advised', async (t) => {
  const enrolling = enroll({ folder: temporaryFolder(t), url: 'http://127.0.0.1:1', code: CODE });
  await t.rejects(enrolling, { message: /^Port 1 cannot be used: .*on another port$/ });
});

t.test('a text that is no code is refused with the form of one', async (t) => {
  const plane = await startPlane(t);
  for (const code of ['abc', `${CODE}U`, '']) {
    const enrolling = enroll({ folder: temporaryFolder(t), url: plane.url, code });
    await t.rejects(enrolling, { message: /not an enrollment code.* 20 letters and digits, such as 7KQ2M-/ });
  }
  t.equal(plane.requests, 0);
});

t.test('a file that cannot be written is named', async (t) => {
  const plane = await startPlane(t);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'enrolment.json.new'));
  const enrolling = enroll({ folder, url: plane.url, code: CODE });
  await t.rejects(enrolling, { message: new RegExp(`^Cannot write ${folder}/enrolment.json: `) });
  t.equal(plane.requests, 0, 'no key is announced that is not on disk');
  // A limit on the size of files refuses a write as a full disk does: without the name of the file.
  const bin = join(PROJECT_FOLDER, 'node-daemon/bin.cjs');
  const other = temporaryFolder(t);
  const words = ['enroll', plane.url, CODE, '--data-dir', other];
  const limited = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, bin, ...words], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], TSX_DISABLE_CACHE: '1' },
  });
  t.equal(limited.status, 1);
  t.match(limited.stderr, `error: Cannot write ${other}/enrolment.json: `);
});

t.test('a URL without TLS that leaves this host is refused before anything is sent or kept', async (t) => {
  const plane = await startPlane(t);
  const { port } = new URL(plane.url);
  const folder = temporaryFolder(t);
  for (const url of [
    // By it Linux reaches this host, and its name says nothing of that.
    `http://0.0.0.0:${port}`,
    'http://sim.example',
    'HTTP://sim.example',
    'http://10.0.0.1:8080',
    'http://[2001:db8::1]',
    'http://127.sim.example',
    'http://localhost.sim.example',
    'http://127.0.0.1.sim.example',
  ])
    await t.rejects(enroll({ folder, url, code: CODE }), /has no TLS.*https:.*--insecure/, url);
  t.equal(plane.requests, 0);
  t.same(readdirSync(folder), []);
  for (const host of ['localhost', '127.0.0.1', '127.1', '2130706433'])
    t.match(await enroll({ folder, url: `http://${host}:${port}`, code: CODE }), { nodeId: 'lab' }, host);
  for (const url of [
    'https://sim.example',
    'wss://sim.example',
    'ws://127.8.8.8',
    'http://[::1]:1',
    'ws://[::1]',
  ])
    t.equal(isPlainUrl(url), false, url);
  for (const url of ['ws://sim.example', 'WS://10.0.0.1', 'ws://127.sim.example'])
    t.equal(isPlainUrl(url), true, url);
});

t.test(
  'with --insecure it is enrolled, and the daemon remembers; without that it connects to no such URL',
  async (t) => {
    const plane = await startPlane(t);
    const folder = temporaryFolder(t);
    const url = plane.url.replace('127.0.0.1', '0.0.0.0');
    const bin = join(PROJECT_FOLDER, 'node-daemon/bin.cjs');
    const command = async (...words: string[]) => {
      const child = spawn(process.execPath, [bin, 'enroll', url, CODE, '--data-dir', folder, ...words]);
      const printed = Promise.all([text(child.stdout), text(child.stderr)]);
      const [status] = await once(child, 'exit');
      const [stdout, stderr] = await printed;
      return { status, stdout, stderr };
    };
    const refused = await command();
    t.equal(refused.status, 1);
    t.match(refused.stderr, /^error: .*has no TLS[\s\S]*--insecure/);
    t.equal(plane.requests, 0);
    t.match(await command('--insecure'), { status: 0, stdout: /^enrolled as lab/ });

    const logged: string[] = [];
    const log = {
      ...silentLogger,
      error: (_fields: unknown, message: string) => void logged.push(message),
    } as Logger;
    const identity = new IdentityFile({ folder, clock: systemClock, log });
    t.teardown(() => identity.close());
    await identity.open();
    t.match(identity.current, { nodeId: 'lab', controlPlaneUrl: url, isInsecure: true });
    // As a version before this one wrote it.
    const { insecure: _, ...older } = identityIn(folder);
    writeFileSync(join(folder, 'identity.json'), JSON.stringify(older));
    await until('no control plane', () => identity.current === undefined);
    t.match(logged, [/has no TLS.*--insecure/]);
    t.match(readEnrollment(folder), { kind: 'refused_plain' });
    t.equal((await command('--insecure')).status, 0, 'the same command again');
    await until('it is back', () => identity.current?.nodeId === 'lab');
  },
);

t.test('audio does not go to a URL without TLS that the control plane names', async (t) => {
  const plane = await startPlane(t);
  const url = plane.url.replace('127.0.0.1', '0.0.0.0');
  const events = { onPlayout: () => undefined, onClear: () => ({ played: 0, dropped: 0 }) };
  const parts = {
    clock: systemClock,
    log: silentLogger,
    events: { ...events, onDigits: () => undefined, onEnd: () => undefined },
  };
  await t.rejects(MediaLink.open(url, 'ticket', parts), /has no TLS/);
  t.equal(plane.upgrades, 0);
  await t.rejects(MediaLink.open(url, 'ticket', { ...parts, isInsecure: true }), /hang up/);
  t.equal(plane.upgrades, 1, 'allowed, and not taken by this one');
});
