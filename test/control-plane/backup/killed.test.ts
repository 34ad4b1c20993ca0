// A large restore: in bounded memory, and kill -9 in the middle of it leaves an empty database. The whole has a hundred thousand messages.
import { readFileSync, statSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sql } from 'kysely';
import t from 'tap';
import { readBackup } from '#control-plane/backup/backup-reader.ts';
import { openAsItIs } from '#control-plane/store/database/database.ts';
import { backedUp, relationsOf, rowsOf } from '../../fixtures/database/lived-database.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { isWhole } from '../../fixtures/sweep.ts';
import { until } from '../../fixtures/until.ts';

const TIMEOUT = { timeout: 380_000 };
const MESSAGES = isWhole() ? 100_000 : 30_000;

const postgres = await openDatabases(t);
const restore = (file: string, databaseUrl: string, onStart?: Parameters<typeof runProgram>[3]) =>
  runProgram('control-plane', ['restore', file], { DATABASE_URL: databaseUrl }, onStart);

t.test(`${MESSAGES} messages in bounded memory; kill -9 in the middle leaves nothing`, TIMEOUT, async (t) => {
  const { url, file } = await backedUp(t, postgres, MESSAGES);
  t.ok(statSync(file).size < 20_000_000);
  const databaseUrl = await postgres.createDatabase();
  const { db, close } = await openAsItIs({ url: databaseUrl, connectionsMax: 1 });
  t.teardown(close);
  let peakBytes = 0;
  const killed = restore(file, databaseUrl, (child) => {
    void until(
      'rows go in',
      async () => {
        const { rows } = await sql`select from pg_stat_activity
        where datname = current_database() and query like 'insert into "messages"%'`.execute(db);
        return rows.length > 0;
      },
      120_000,
    ).then(() => child.kill('SIGKILL'));
  });
  t.match(await killed, { status: null, stdout: '' });
  await until('the server has noticed', async () => (await relationsOf(databaseUrl)) === 0);
  const startedAt = Date.now();
  const restored = await restore(file, databaseUrl, (child) => {
    const status = `/proc/${child.pid}/status`;
    const timer = setInterval(() => {
      try {
        const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] ?? 0);
        peakBytes = Math.max(peakBytes, kilobytes * 1024);
      } catch {
        // It has ended.
      }
    }, 50);
    child.once('exit', () => clearInterval(timer));
  });
  t.match(restored, { status: 0 });
  t.ok(peakBytes > 0 && peakBytes < 400_000_000, `${peakBytes} bytes at most`);
  t.comment(`${statSync(file).size} bytes of file, ${peakBytes} bytes of memory`);
  const [was, is] = [
    await rowsOf({ url, connectionsMax: 1 }),
    await rowsOf({ url: databaseUrl, connectionsMax: 1 }),
  ];
  was.delete('kysely_migration');
  for (const [name, rows] of was) t.ok(JSON.stringify(is.get(name)) === JSON.stringify(rows), name);
  // Counters go on beyond all that the former database gave since.
  const next = await sql<{
    id: number;
  }>`insert into node_events (node_id, slot, kind, detail, at, received_at)
    values ('old', 'm', 'k', '', now(), now()) returning id`.execute(db);
  const id = Number(next.rows[0]?.id);
  t.ok(id > startedAt && id <= Date.now() + 1, `id ${id}`);
  await pipeline(Readable.from(readBackup(file)), async (parts) => {
    for await (const part of parts as AsyncIterable<object>)
      t.ok(!('rows' in part) || (part.rows as string[]).length <= 500);
  });
});
