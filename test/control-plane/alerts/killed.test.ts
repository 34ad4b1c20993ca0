// An instance that dies at any await of a check or of a delivery: the next one goes on, and each alert is sent, as one message.
import t, { type Test } from 'tap';
import { systemClock } from '#shared/clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { installFaultPoints, liveUntil } from '../../fixtures/fault-points.ts';
import { someOf } from '../../fixtures/sweep.ts';

// Before anything of the control plane is loaded.
installFaultPoints();
const { sql } = await import('kysely');
const { AlertPost } = await import('#control-plane/alerts/alert-post.ts');
const { checkForTroubles } = await import('#control-plane/alerts/alert-watch.ts');
const { createWebhook } = await import('#control-plane/alerts/webhook.ts');
const { openDatabase } = await import('#control-plane/store/database/database.ts');
const { silentLogger } = await import('#shared/log.ts');
const { putNode } = await import('../../fixtures/service/alerting-service.ts');
const { ManualClock } = await import('../../fixtures/clocks/manual-clock.ts');
const { openDatabases } = await import('../../fixtures/database/postgres.ts');
const { alertBy, startWebhookReceiver } = await import('../../fixtures/service/webhook-receiver.ts');

const LOOK_MS = 10_000;
/** More than the claim of a dead instance lasts. */
const LEASE_IS_OVER_MS = 4 * 60_000;

const postgres = await openDatabases(t);
const hook = await startWebhookReceiver(t);
const { alertWebhookUrl: url, alertWebhookSecret: secret } = alertBy(hook);
const channel = createWebhook(
  { url, secret, clock: systemClock },
  { serviceName: 'Simrack', environment: 'test' },
);
const thresholds = {
  heartbeatMs: 10_000,
  alertSlotDownMs: 60_000,
  alertStoragePercent: 80,
  alertJournalDepth: 500,
  alertPoolMin: 0,
  alertPlanDays: 7,
  relayerTransfersMin: 100,
};
const databaseUrl = await postgres.createMigrated();
const db = await openTestDatabase(t, databaseUrl);
const clock = new ManualClock();

const instanceOn = (database: typeof db) => {
  const parts = { db: database, clock, log: silentLogger };
  const post = new AlertPost({ ...parts, channel });
  return {
    check: () =>
      checkForTroubles({
        ...parts,
        thresholds,
        gas: () => new Map(),
        closedChains: () => [],
        relayers: new Map(),
      }),
    report: () => post.round(),
  };
};
const steady = instanceOn(db);

async function lookFor(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= LOOK_MS) {
    await steady.check();
    clock.advance(LOOK_MS);
  }
}

/** Does the work on connections of its own, and dies there. Returns the points it passed. */
async function dieAt(diesAt: number, work: 'check' | 'report'): Promise<string[]> {
  const other = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  const points = await liveUntil(diesAt, instanceOn(other.db)[work]);
  // A kill closes what the process had open.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'simrack-control-plane'
      and pid <> pg_backend_pid() and state like 'idle in transaction%'`.execute(db);
  // A dead transaction has its connection for ever.
  void other.close().catch(() => undefined);
  return points;
}

/** Ordinary runs play so many of the kills of a test. */
const SHORT_RUN = 6;

/** Plays a life that ends well, then those that die at an await of it. `live` resolves with the awaits that it passed. */
async function dieAtAwaits(
  t: Test,
  live: (diesAt: number) => Promise<number>,
  atLeast: number,
): Promise<void> {
  const points = await live(Number.POSITIVE_INFINITY);
  t.ok(points >= atLeast, `${points} awaits`);
  for (const diesAt of someOf(t, [...Array(points).keys()], SHORT_RUN)) await live(diesAt);
}

t.test(
  'a kill at any await of a delivery loses neither a raised nor an ended alert',
  { timeout: 380_000 },
  async (t) => {
    const deliver = async (diesAt: number): Promise<number> => {
      hook.asked.length = 0;
      hook.taken.length = 0;
      const id = `rack-${diesAt}`;
      await putNode(db, id, false);
      await lookFor(30_000);
      const raising = await dieAt(diesAt, 'report');
      clock.advance(LEASE_IS_OVER_MS);
      await steady.report();
      await putNode(db, id);
      await lookFor(30_000);
      const recovering = await dieAt(diesAt, 'report');
      clock.advance(LEASE_IS_OVER_MS);
      await steady.report();
      const reported = new Map(hook.asked.map((webhook) => [webhook.id, JSON.stringify(webhook)]));
      const last = String(raising.at(-1));
      t.same(
        [...reported.values()].map((text) => /"raised":\[\{/.test(text)),
        [true, false],
        `${last}: two messages, in order`,
      );
      t.ok(hook.asked.length <= 4, `${last}: ${hook.asked.length} attempts`);
      t.same(new Set(hook.reported()), new Set([`+node_offline ${id}`, `-node_offline ${id}`]), last);
      for (const { id, ...rest } of hook.asked)
        t.equal(reported.get(id), JSON.stringify({ id, ...rest }), 'to the letter');
      return Math.max(raising.length, recovering.length);
    };
    await dieAtAwaits(t, deliver, 20);
  },
);

t.test('a kill at any await of a check is made good by the next check', { timeout: 380_000 }, async (t) => {
  const look = async (diesAt: number): Promise<number> => {
    const id = `shelf-${diesAt}`;
    await putNode(db, id, false);
    await lookFor(10_000);
    const points = await dieAt(diesAt, 'check');
    await lookFor(0);
    const rows = await db.selectFrom('alerts').select('raised_at').where('subject', '=', id).execute();
    t.equal(rows.length, 1, String(points.at(-1)));
    t.not(rows[0]?.raised_at, null, String(points.at(-1)));
    return points.length;
  };
  await dieAtAwaits(t, look, 10);
});
