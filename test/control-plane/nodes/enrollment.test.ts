// Enrollment over HTTP: a code is good once, for one key; a refusal reveals nothing; keys are replaced and revoked.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { deleteExpiredProofs } from '#control-plane/store/fleet/nodes.ts';
import { makeProof } from '#node-daemon/link/identity.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { ENROLL_PATH } from '#shared/link/enrollment.ts';
import { LINK_PATH } from '#shared/link/version.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { identityOf, newKey, nodeCode } from '../../fixtures/nodes/enrolled-node.ts';
import { ScriptedNode } from '../../fixtures/nodes/scripted-node.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const HOUR_MS = 3_600_000;

const newPublicKey = (): string => String(newKey().export({ format: 'jwk' }).x);

async function enroll(url: string, code: string, publicKey = newPublicKey()) {
  const response = await fetch(url + ENROLL_PATH, jsonPost({ code, public_key: publicKey }));
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, headers: response.headers, body };
}

/** The answer to an upgrade that is refused; 101 when it is not. */
async function upgradeStatus(url: string, authorization: string): Promise<number> {
  const socket = new WebSocket(url.replace('http', 'ws') + LINK_PATH, { headers: { authorization } });
  const opened = once(socket, 'open').then(() => 101);
  const refused = once(socket, 'unexpected-response').then(([, { statusCode }]) => Number(statusCode));
  socket.on('error', () => undefined);
  const status = await Promise.race([opened, refused]);
  socket.terminate();
  return status;
}

async function revoke(databaseUrl: string, node: string): Promise<void> {
  const { close, ...operator } = await openOperator({ databaseUrl, dataDir: DATA_DIR, url: '' });
  try {
    await operator.call('revokeNode', { node });
  } finally {
    await close();
  }
}

t.test('a code is good for one key, as often as that key asks', async (t) => {
  const { url } = await rig.start(t);
  const code = await nodeCode(url, 'lab');
  t.match(code, /^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/, '20 characters of 5 bits');
  const key = newPublicKey();
  const typed = code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l');
  t.match(await enroll(url, typed, key), { status: 200, body: { node_id: 'lab' } }, 'as people type it');
  t.match(await enroll(url, code, key), { status: 200, body: { node_id: 'lab' } }, 'after a lost answer');
  t.match(await enroll(url, code), { status: 403, body: { error: 'enrolment_refused' } }, 'another key');
});

t.test('two keys at the same time: one gets the node', async (t) => {
  const { url } = await rig.start(t);
  const code = await nodeCode(url, 'lab');
  const answers = await Promise.all(Array.from({ length: 8 }, () => enroll(url, code)));
  t.same(answers.map(({ status }) => status).sort(), [200, 403, 403, 403, 403, 403, 403, 403]);
});

t.test('unknown, used, replaced and expired codes have the same answer', async (t) => {
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock });
  const used = await nodeCode(url, 'used');
  await enroll(url, used);
  const replaced = await nodeCode(url, 'replaced');
  await nodeCode(url, 'replaced');
  const expired = await nodeCode(url, 'expired');
  clock.advance(23.9 * HOUR_MS);
  const young = await nodeCode(url, 'young');
  t.equal((await enroll(url, young)).status, 200);
  clock.advance(0.2 * HOUR_MS);
  const answers = await Promise.all(
    [used, replaced, expired, '00000-00000-00000-00000'].map((code) => enroll(url, code)),
  );
  const [first] = answers;
  t.match(first, { status: 403, body: { error: 'enrolment_refused', message: /operator/ } });
  const reported = answers.map(({ status, body }) => ({ status, ...body, request_id: '' }));
  for (const answer of reported) t.same(answer, reported[0]);
});

t.test('an invalid code or key is refused by the name of its field', async (t) => {
  const { url } = await rig.start(t);
  for (const [code, key, field] of [
    ['ABC', newPublicKey(), 'code'],
    ['U'.repeat(20), newPublicKey(), 'code'],
    ['0'.repeat(20), 'short', 'public_key'],
  ] as const) {
    t.match(await enroll(url, code, key), { status: 400, body: { error: 'invalid_request', field } });
  }
});

t.test('a client that guesses codes is slowed down, one with the right code is not', async (t) => {
  const clock = new ManualClock();
  const { url } = await rig.start(t, { clock });
  const code = await nodeCode(url, 'lab');
  for (let n = 0; n < 10; n += 1) t.equal((await enroll(url, '0'.repeat(20))).status, 403);
  const limited = await enroll(url, code);
  t.match(limited, { status: 429, body: { error: 'rate_limited' } });
  t.match(limited.headers.get('retry-after'), /^[1-9]\d?$/);
  t.match(limited.headers.get('ratelimit'), /^"enrolment";r=0;t=[1-9]\d?$/);
  clock.advance(Number(limited.headers.get('retry-after')) * 1000);
  const key = newPublicKey();
  for (let n = 0; n < 20; n += 1) t.equal((await enroll(url, code, key)).status, 200);
});

t.test('the database knows only the hash of a code', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const code = await nodeCode(url, 'lab');
  const db = await openTestDatabase(t, databaseUrl);
  const [row] = await db.selectFrom('nodes').selectAll().execute();
  const plain = code.replaceAll('-', '');
  t.equal(row?.code_hash?.toString('hex'), createHash('sha256').update(plain).digest('hex'));
  t.notMatch(JSON.stringify(row), plain);
  t.notMatch(JSON.stringify(row), code);
});

const closedWith = (node: ScriptedNode, code: number) =>
  until(`close code ${code}`, () => node.closeCode === code);

t.test('after a second enrollment the old key is invalid and its link ends', async (t) => {
  const { url } = await rig.start(t);
  const node = await ScriptedNode.connect(url, { nodeId: 'lab' });
  const { key } = await identityOf(url, 'lab');
  const proof = () => makeProof({ nodeId: 'lab', key, controlPlaneUrl: url }, Date.now());
  t.equal(await upgradeStatus(url, proof()), 101);
  t.equal((await enroll(url, await nodeCode(url, 'lab'))).status, 200);
  await closedWith(node, LINK_CLOSE.unauthorized);
  t.equal(await upgradeStatus(url, proof()), 401);
});

t.test('a revoked node gets a stop, its link ends within a heartbeat; a new code lets it back', async (t) => {
  const { url, databaseUrl } = await rig.start(t, { heartbeatMs: 100 });
  const node = await ScriptedNode.connect(url, { nodeId: 'lab' });
  const other = await ScriptedNode.connect(url, { nodeId: 'old' });
  const { key } = await identityOf(url, 'lab');
  const proof = (by = key) => makeProof({ nodeId: 'lab', key: by, controlPlaneUrl: url }, Date.now());
  await revoke(databaseUrl, 'lab');
  await revoke(databaseUrl, 'old');
  await t.rejects(revoke(databaseUrl, 'no-such-node'), /There is no node "no-such-node"/);
  await closedWith(node, LINK_CLOSE.revoked);
  await closedWith(other, LINK_CLOSE.revoked);
  t.equal(await upgradeStatus(url, proof()), 403);
  t.equal(await upgradeStatus(url, proof(newKey())), 401, 'only to who has its key');
  const code = await nodeCode(url, 'lab');
  t.equal(await upgradeStatus(url, proof()), 403, 'a code alone changes nothing');
  t.equal((await enroll(url, code, String(key.export({ format: 'jwk' }).x))).status, 200);
  t.equal(await upgradeStatus(url, proof()), 101);
});

async function refusedWithTime(t: Test, url: string, authorization: string): Promise<void> {
  const socket = new WebSocket(url.replace('http', 'ws') + LINK_PATH, { headers: { authorization } });
  socket.on('error', () => undefined);
  const accepted = once(socket, 'open').then(() => Promise.reject(new Error('it was let in')));
  const [request, response] = await Promise.race([once(socket, 'unexpected-response'), accepted]);
  t.equal(response.statusCode, 401);
  t.ok(Math.abs(Number(response.headers['x-simrack-time']) - Date.now()) < 10_000, 'the server’s time');
  request.destroy();
}

t.test('a proof is good for a minute, once, on one of all instances', async (t) => {
  const { url, databaseUrl } = await rig.start(t);
  const other = await rig.start(t, { databaseUrl });
  const { key } = await identityOf(url, 'lab');
  const identity = { nodeId: 'lab', key, controlPlaneUrl: url };
  const proof = makeProof(identity, Date.now());
  t.equal(await upgradeStatus(url, proof), 101);
  await refusedWithTime(t, url, proof);
  await refusedWithTime(t, other.url, proof);
  const same = makeProof(identity, Date.now());
  const statuses = await Promise.all([url, other.url, url, other.url].map((at) => upgradeStatus(at, same)));
  t.same(statuses.sort(), [101, 401, 401, 401], 'at the same instant');
  t.equal(await upgradeStatus(url, makeProof(identity, Date.now() - 55_000)), 101);
  await refusedWithTime(t, url, makeProof(identity, Date.now() - 65_000));
  await refusedWithTime(t, url, makeProof(identity, Date.now() + 65_000));
  await refusedWithTime(t, url, makeProof({ ...identity, nodeId: 'other' }, Date.now()));
  const otherSignature = makeProof(identity, Date.now()).split('=').at(-1);
  await refusedWithTime(t, url, makeProof(identity, Date.now()).replace(/[\w-]+$/, String(otherSignature)));
  await refusedWithTime(t, url, makeProof(identity, Date.now()).replace(/time=\d/, 'time=9'));
});

t.test('expired proofs are forgotten', async (t) => {
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, { clock });
  const { key } = await identityOf(url, 'lab');
  const identity = { nodeId: 'lab', key, controlPlaneUrl: url };
  t.equal(await upgradeStatus(url, makeProof(identity, clock.now())), 101);
  const db = await openTestDatabase(t, databaseUrl);
  const count = async () => (await db.selectFrom('link_proofs').selectAll().execute()).length;
  t.equal(await count(), 1);
  await until('they are gone', async () => {
    clock.advance(60_000);
    return (await count()) === 0;
  });
});

t.test('an instance whose clock is ahead forgets no proof that is valid at another', async (t) => {
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, { clock });
  const { key } = await identityOf(url, 'lab');
  const proof = makeProof({ nodeId: 'lab', key, controlPlaneUrl: url }, clock.now());
  t.equal(await upgradeStatus(url, proof), 101);
  const db = await openTestDatabase(t, databaseUrl);
  clock.advance(45_000);
  await deleteExpiredProofs(db, new Date(clock.now() + 30_000));
  t.equal(await upgradeStatus(url, proof), 401);
});
