// The threads that check signatures: what they find, how many jobs wait, and what happens when a thread hangs or dies.
import t, { type Test } from 'tap';
import { type Address, hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SignerPool } from '#control-plane/signatures/signer-pool.ts';

const HANGING = new URL('hanging-thread.mjs', import.meta.url);
const NEVER_MS = 60_000;
/** A new thread takes a second of it on a busy machine. */
const JOB_MS = 4_000;

// The first test case of EIP-2098.
const KEY = '0x1234567890123456789012345678901234567890123456789012345678901234';
const TEXT = 'Hello World';
const SIGNATURE =
  '0x68a020a209d3d56c46f38cc50a33f704f4a9a10a59377f8dd762ac66910e9b907e865ad05c4035ab5792787d4a0297a43617ae897930a6fe4d822b8faea520641b';

// The service's port keeps its event loop; nothing else here does while a dead thread is waited for.
const port = setInterval(() => undefined, 1_000);
t.teardown(() => clearInterval(port));

function poolOf(t: Test, options: ConstructorParameters<typeof SignerPool>[0]): SignerPool {
  const pool = new SignerPool(options);
  t.teardown(() => pool.stop());
  return pool;
}

const job = (signer: string) => ({
  ...({ signer: signer as Address, digests: [hashMessage(TEXT)], signature: SIGNATURE } as const),
});

t.test('returns who signed one of the digests', async (t) => {
  const pool = poolOf(t, {});
  const { address } = privateKeyToAccount(KEY);
  t.equal(await pool.isSignedBy(job(address)), true);
  t.equal(await pool.isSignedBy(job(address.toLowerCase())), true);
  const digests = [hashMessage('another text'), hashMessage(TEXT)];
  t.equal(await pool.isSignedBy({ ...job(address), digests }), true, 'the second of two');
  t.equal(await pool.isSignedBy({ ...job(address), digests: digests.slice(0, 1) }), false);
  t.equal(await pool.isSignedBy(job(`0x${'11'.repeat(20)}`)), false);
});

t.test('a thread at work does not keep the event loop', async (t) => {
  const pool = poolOf(t, { thread: HANGING, threadsMax: 1, jobTimeoutMs: 1_000 });
  const hanging = pool.isSignedBy(job('hangs'));
  let turns = 0;
  const counter = setInterval(() => {
    turns += 1;
  }, 10);
  await t.rejects(hanging);
  clearInterval(counter);
  t.ok(turns > 10, `${turns} turns within a second`);
});

t.test('jobs beyond the bound are refused at once, and taken again when there is room', async (t) => {
  const pool = poolOf(t, { thread: HANGING, threadsMax: 1, jobsMax: 3, jobTimeoutMs: JOB_MS });
  const waiting = ['hangs', 'answers', 'answers'].map((signer) => pool.isSignedBy(job(signer)));
  t.throws(() => pool.checkRoom(), { code: 'overloaded', headers: { 'Retry-After': '1' } });
  await t.rejects(pool.isSignedBy(job('answers')), { code: 'overloaded' });
  const results = await Promise.allSettled(waiting);
  t.equal(results[0]?.status, 'rejected');
  pool.checkRoom();
  t.equal(await pool.isSignedBy(job('answers')), true);
});

t.test('a thread that hangs is replaced when its job’s time is over', async (t) => {
  const pool = poolOf(t, { thread: HANGING, threadsMax: 1, jobTimeoutMs: JOB_MS });
  t.equal(await pool.isSignedBy(job('answers')), true);
  await t.rejects(pool.isSignedBy(job('hangs')), { code: 'overloaded' });
  t.equal(await pool.isSignedBy(job('answers')), true);
});

t.test('a thread that crashes fails its own job, and is replaced for those that wait', async (t) => {
  const pool = poolOf(t, { thread: HANGING, threadsMax: 1, jobTimeoutMs: NEVER_MS });
  t.equal(await pool.isSignedBy(job('answers')), true);
  const [crashed, waiting] = [pool.isSignedBy(job('crashes')), pool.isSignedBy(job('answers'))];
  await t.rejects(crashed, { message: 'crashed' });
  t.equal(await waiting, true);
});

t.test('a thread that ends without a word is replaced when its job’s time is over', async (t) => {
  const pool = poolOf(t, { thread: HANGING, threadsMax: 1, jobTimeoutMs: JOB_MS });
  t.equal(await pool.isSignedBy(job('answers')), true);
  await t.rejects(pool.isSignedBy(job('dies')), { code: 'overloaded' });
  t.equal(await pool.isSignedBy(job('answers')), true);
});
