// An instance that dies at any await while it delivers: the next one goes on, no event is lost, and the text is claimed.
import t from 'tap';
import type { Renderings } from '#control-plane/webhooks/event-body.ts';
import { systemClock } from '#shared/clock.ts';
import { waitsForLock } from '../../fixtures/database/locks.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { installFaultPoints, liveUntil } from '../../fixtures/fault-points.ts';

// Before anything of the control plane is loaded.
installFaultPoints();
const { sql } = await import('kysely');
const { openDatabase } = await import('#control-plane/store/database/database.ts');
const { insertWebhook } = await import('#control-plane/store/webhooks/webhooks.ts');
const { LocalBus } = await import('#control-plane/bus/local-bus.ts');
const { Webhooks } = await import('#control-plane/webhooks/webhooks.ts');
const { DeliveryQueue, LEASE_MS } = await import('#control-plane/webhooks/delivery-queue.ts');
const { createPoster } = await import('#control-plane/webhooks/poster.ts');
const { Slots } = await import('#control-plane/webhooks/slots.ts');
const { toHistory, toInbound } = await import('#control-plane/handlers/sms.ts');
const { silentLogger } = await import('#shared/log.ts');
const { ManualClock } = await import('../../fixtures/clocks/manual-clock.ts');
const { openDatabases } = await import('../../fixtures/database/postgres.ts');
const { until } = await import('../../fixtures/until.ts');
const { startEventReceiver } = await import('../../fixtures/agents/event-receiver.ts');

/** More than there are awaits: the last life outlives its work. */
const POINTS_MAX = 300;
const TEXTS = 2;

const postgres = await openDatabases(t);
const databaseUrl = await postgres.createMigrated();
const db = await openTestDatabase(t, databaseUrl);
const clock = new ManualClock();
const receiver = await startEventReceiver(t);
const poster = createPoster({
  userAgent: 'test',
  timeoutMs: 5_000,
  allowsPrivate: true,
  clock: systemClock,
});
t.teardown(() => poster.close());
const now = (): Date => new Date(clock.now());

await sql`insert into numbers (number, iccid, created_at) values ('+12065550901', '8901000000000000901', now())`.execute(
  db,
);
await sql`insert into subscriptions (id, wallet, number, created_at, expires_at)
  values ('sub_1', '0xb', '+12065550901', now(), now() + interval '30 days')`.execute(db);
await insertWebhook(
  db,
  {
    id: 'wh_1',
    subscriptionId: 'sub_1',
    url: receiver.url,
    events: ['sms.received'],
    claim: true,
    description: '',
    secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    now: now(),
  },
  5,
);

const noCall = (): never => {
  throw new Error('there is no call');
};
const renderings: Renderings = {
  received: toInbound,
  sent: toHistory,
  ringing: noCall,
  answered: noCall,
  ended: noCall,
};

let instances = 0;
function queueOn(database: typeof db) {
  instances += 1;
  const signal = new AbortController().signal;
  return new DeliveryQueue(
    {
      db: database,
      clock,
      log: silentLogger,
      poster,
      random: Math.random,
      instance: `instance ${instances}`,
      slots: new Slots({ ofHolder: 8, prompt: 8, slow: 8 }),
      ending: signal,
      aborting: signal,
      renderings,
    },
    { id: 'wh_1', subscriptionId: 'sub_1', isFailing: false },
  );
}

/** Delivers on connections of its own, and dies there. Returns the points that it passed. */
async function dieAt(diesAt: number): Promise<string[]> {
  const other = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  const queue = queueOn(other.db);
  const points = await liveUntil(diesAt, () => queue.run());
  void other.close().catch(() => undefined);
  return points;
}

t.test('at each await of a queue', { timeout: 380_000 }, async (t) => {
  let lives = 0;
  for (let diesAt = 1; diesAt < POINTS_MAX; diesAt += 1) {
    const texts = Array.from({ length: TEXTS }, (_, index) => `life ${diesAt} text ${index}`);
    await sql`insert into messages (subscription_id, direction, from_number, to_number, body, created_at, received_at)
      select 'sub_1', 'received', '+13105550188', '+12065550901', body, ${now()}, ${now()}
      from unnest(${texts}::text[]) as body`.execute(db);
    receiver.taken.length = 0;
    const points = await dieAt(diesAt);
    clock.advance(LEASE_MS + 1);
    await queueOn(db).run();
    const first = receiver.texts().filter((text, index, all) => all.indexOf(text) === index);
    t.same(first, texts, `died at ${diesAt}: ${points.at(-1)}`);
    t.ok(receiver.taken.length <= TEXTS + 1, 'one event at most comes twice');
    const { rows } = await sql`select from messages where delivered_at is null
      union all select from webhook_deliveries where state <> 'delivered'`.execute(db);
    t.same(rows.length, 0, 'all are delivered and claimed');
    if (points.length < diesAt) break;
    lives += 1;
  }
  t.ok(lives > 5 && lives < POINTS_MAX - 1, `${lives} lives`);
});

t.test('a stop while queues are being taken gives them back, and sends nothing', async (t) => {
  const other = await openDatabase({ url: databaseUrl, connectionsMax: 2 });
  t.teardown(other.close);
  receiver.taken.length = 0;
  const bus = new LocalBus(clock);
  const own = createPoster({
    userAgent: 'test',
    timeoutMs: 5_000,
    allowsPrivate: true,
    clock: systemClock,
  });
  const webhooks = new Webhooks({
    bus,
    clock,
    random: Math.random,
    db: other.db,
    log: silentLogger,
    poster: own,
    renderings,
  });
  await until('the first poll is over', () => clock.dueIn(1_000) > 0);
  await sql`insert into messages (subscription_id, direction, from_number, to_number, body, created_at, received_at)
    values ('sub_1', 'received', '+13105550188', '+12065550901', 'for the next instance', ${now()}, ${now()})`.execute(
    db,
  );
  // Held until the stop has begun: the statement that takes the queue waits for it.
  const stopped = await db.transaction().execute(async (trx) => {
    await sql`select from webhooks where id = 'wh_1' for no key update`.execute(trx);
    bus.publish({ kind: 'webhook_queued', subscriptionId: 'sub_1' });
    await until('it takes the queue', waitsForLock(db));
    // Not awaited here: it ends only after this transaction.
    return { run: webhooks.stop() };
  });
  await stopped.run;
  const { rows } = await sql`select lease_instance, lease_until from webhooks`.execute(db);
  t.same(rows, [{ lease_instance: null, lease_until: null }]);
  t.same(receiver.taken, []);
  await queueOn(db).run();
  t.same(receiver.texts(), ['for the next instance']);
});
