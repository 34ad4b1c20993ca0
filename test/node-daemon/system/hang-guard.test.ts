// Calls that really hang in libuv's threads: they are bounded, and the journal goes on reaching the disk.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Journal } from '#node-daemon/journal/journal.ts';
import { HangGuard } from '#node-daemon/system/hang-guard.ts';
import { systemClock } from '#shared/clock.ts';
import { silentLogger } from '#shared/log.ts';
import { threadPoolSize } from '#shared/process/thread-pool.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT_MS = 200;

/** FIFOs without a reader: opening one for writing blocks in the kernel until `release`. */
function setUp(t: Test, runningMax: number) {
  const folder = temporaryFolder(t);
  const paths = Array.from({ length: 8 }, (_, index) => join(folder, `fifo-${index}`));
  execFileSync('mkfifo', paths);
  const readers: number[] = [];
  const release = (): void => {
    for (const path of paths) readers.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  };
  const guard = new HangGuard(systemClock, runningMax);
  const late: FileHandle[] = [];
  const hang = (path: string | undefined, options: { mustRun?: boolean; key?: string } = {}) =>
    guard.call({
      key: path ?? '',
      timeoutMs: TIMEOUT_MS,
      run: () => open(path ?? '', 'w'),
      onLate: (file) => late.push(file),
      ...options,
    });
  t.teardown(async () => {
    if (readers.length === 0) release();
    await until('the threads', () => guard.hanging === 0);
    for (const file of late) await file.close();
    for (const reader of readers) closeSync(reader);
  });
  return { folder, guard, hang, late, paths, release };
}

/** The longest of 20 durable appends, in ms. */
async function longestAppendMs(folder: string): Promise<number> {
  const journal = await Journal.open({ folder, clock: systemClock, log: silentLogger });
  let longestMs = 0;
  for (let index = 0; index < 20; index += 1) {
    const startedAt = performance.now();
    const entry = { iccid: '8901000000000000017', storage: 'ME', index, digest: 'a'.repeat(64) };
    await journal.append({ kind: 'gone', entry });
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  await journal.close();
  return longestMs;
}

t.test('eight ports that hang leave the journal and other calls their threads', async (t) => {
  t.equal(threadPoolSize(), Number(process.env['UV_THREADPOOL_SIZE'] ?? 4));
  const { folder, guard, hang, paths } = setUp(t, threadPoolSize() - 2);
  const outcomes = Promise.allSettled(paths.map((path) => hang(path)));
  const ms = await longestAppendMs(folder);
  t.comment(`longest append beside hanging opens: ${ms.toFixed(1)} ms`);
  for (const { status } of await outcomes) t.equal(status, 'rejected');
  t.equal(guard.hanging, threadPoolSize() - 2, 'no more of them ever began');
  t.ok(guard.isExhausted);
});

t.test('without the guard the same ports stop the journal', async (t) => {
  const { folder, paths, release } = setUp(t, 1);
  const opened = Promise.all(paths.map((path) => open(path, 'w')));
  const appended = longestAppendMs(folder);
  const first = await Promise.race([
    appended,
    new Promise<string>((resolve) => setTimeout(() => resolve('nothing reached the disk'), 500)),
  ]);
  t.equal(first, 'nothing reached the disk');
  release();
  for (const file of await opened) await file.close();
  await appended;
});

t.test('a hanging device uses one thread, however often it is called', async (t) => {
  const { guard, hang, paths } = setUp(t, 2);
  const [one, other] = paths;
  const outcomes = await Promise.allSettled([hang(one), hang(one), hang(one)]);
  t.same(
    outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as Error).message),
    [
      `${one}: no answer from the kernel for ${TIMEOUT_MS} ms`,
      `${one}: waited for other calls that hang for ${TIMEOUT_MS} ms`,
      `${one}: waited for other calls that hang for ${TIMEOUT_MS} ms`,
    ],
  );
  t.equal(guard.hanging, 1);
  t.equal(await guard.call({ key: other ?? '', timeoutMs: 1_000, run: async () => 'done' }), 'done');
});

t.test('late results are given back, work that must run does, optional work is dropped', async (t) => {
  const { guard, hang, late, paths, release } = setUp(t, 1);
  const [first, dropped] = paths;
  const ran: string[] = [];
  const must = { key: 'must', timeoutMs: TIMEOUT_MS, mustRun: true, run: async () => void ran.push('must') };
  await Promise.allSettled([hang(first), hang(dropped), guard.call(must)]);
  t.same(ran, []);
  release();
  await until('the late ones', () => late.length === 1 && ran.length === 1);
  await until('an end', () => guard.hanging === 0);
  t.notOk(guard.isExhausted);
  t.equal(late.length, 1, 'the dropped one was not opened');
});

t.test('a call that fails is a failure, and the next one begins', async (t) => {
  const { guard } = setUp(t, 1);
  const fail = { key: 'a', timeoutMs: 1_000, run: () => Promise.reject(new Error('no such device')) };
  await t.rejects(guard.call(fail), { message: 'no such device' });
  t.equal(await guard.call({ key: 'a', timeoutMs: 1_000, run: async () => 1 }), 1);
});
