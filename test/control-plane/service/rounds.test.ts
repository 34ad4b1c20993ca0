// The work of every minute: what waits at the start, and on three instances at the same moment each thing once, and no instance fails because of another.
import { sql } from 'kysely';
import pino from 'pino';
import t from 'tap';
import { onMetricEvent } from '#control-plane/metrics/metric-events.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { lapsed } from '../../fixtures/database/lapsed-subscription.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { MINUTE_MS, roundIsOver } from '../../fixtures/service/housekeeping.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const INSTANCES = 3;
const ROUNDS = 5;
const LAPSED = 12;
const WARNING = 40;
/** Each round comes more than an hour after the one before. */
const STEP_MS = 61 * MINUTE_MS;

const rig = await createRig({ hasInstances: true });

interface Line {
  level: number;
  msg: string;
  subscription?: string;
}

t.test('an instance that starts serves first: what can wait begins after its interval', async (t) => {
  const clock = new ManualClock();
  const done = new Set<string>();
  onMetricEvent((event) => {
    if (event.kind === 'housekept' && event.isDone) done.add(event.task);
  });
  const areDone = (...tasks: string[]): Promise<unknown> =>
    until(tasks.join(' and '), () => tasks.every((task) => done.has(task)));
  await rig.start(t, { clock });
  await areDone('reconcile', 'finality', 'gas', 'waitlist', 'probes', 'webhooks');
  await roundIsOver(clock);
  for (const task of ['alerts', 'cleaning', 'costs']) t.notOk(done.has(task), task);
  clock.advance(MINUTE_MS / 6);
  await areDone('alerts');
  t.notOk(done.has('cleaning'));
  clock.advance(MINUTE_MS - MINUTE_MS / 6);
  await areDone('cleaning', 'costs');
});

t.test('housekeeping', { timeout: 120_000 }, async (t) => {
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const clock = new ManualClock();
  const options = { clock, log, messageDays: 30 };
  const { databaseUrl } = await rig.start(t, options);
  for (let more = 1; more < INSTANCES; more += 1) await rig.start(t, { ...options, databaseUrl });
  const db = await openTestDatabase(t, databaseUrl);
  await roundIsOver(clock, INSTANCES);
  // They share a folder: only the first one has the socket of operators.
  lines.length = 0;
  const ids: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { id: holder } = await lapsed(db);
    await sql`update subscriptions set expires_at = now() + interval '1 year', lapsed_at = null
      where id = ${holder}`.execute(db);
    await sql`insert into messages (subscription_id, direction, from_number, to_number, body, created_at)
      select ${holder}, 'received', '+13105550188', '+13105550199', 'old', now() - interval '60 days'
      from generate_series(1, 200)`.execute(db);
    for (let count = 0; count < LAPSED; count += 1) ids.push((await lapsed(db, { messages: 20 })).id);
    await sql`insert into nonces (nonce, expires_at)
      select ${`n${round}-`} || n, now() - interval '1 hour' from generate_series(1, 50) n`.execute(db);
    clock.advance(STEP_MS);
    await roundIsOver(clock, INSTANCES);
  }
  t.same(
    lines.filter(({ level }) => level >= WARNING),
    [],
  );
  const purged = lines
    .filter(({ msg }) => msg === 'purged a subscription')
    .map(({ subscription }) => subscription);
  t.same(purged.sort(), ids.sort(), 'each once');
  const count = async (table: 'messages' | 'nonces'): Promise<number> =>
    (await db.selectFrom(table).selectAll().execute()).length;
  t.equal(await count('nonces'), 0);
  t.equal(await count('messages'), ROUNDS, 'recent messages stay');
});
