// A kill at every await between credential and answer: the money moves once and buys one year, or does not move.
import t from 'tap';
import type { Config } from '#control-plane/config.ts';
import { installFaultPoints, type Life, liveOnce } from '../../fixtures/fault-points.ts';

// Before anything of the control plane is loaded.
installFaultPoints();
const { sql } = await import('kysely');
const { openDatabase } = await import('#control-plane/store/database.ts');
const { BUYERS, PAY_TO } = await import('../../dev-stack/wallets.ts');
const { startControlPlane } = await import('../../fixtures/control-plane.ts');
const { ManualClock } = await import('../../fixtures/manual-clock.ts');
const { PRICE, startPaidChain } = await import('../../fixtures/paid-chain.ts');
const { paySubscribe, recoverToken, signPaymentHeader } = await import('../../fixtures/payer.ts');
const { startPostgres, WITHOUT_SYNC } = await import('../../fixtures/postgres.ts');
const { until } = await import('../../fixtures/until.ts');

const [ALICE] = BUYERS as [(typeof BUYERS)[0]];
const NUMBERS = 2;
const MINUTE_MS = 60_000;
/** More than there are awaits: the last life outlives its request. */
const POINTS_MAX = 1_000;

const [chain, postgres] = await Promise.all([startPaidChain(), startPostgres(WITHOUT_SYNC)]);
t.teardown(() => Promise.all([chain.stop(), postgres.stop()]));
// Each life may cost the price.
await chain.dollar.fund(ALICE.address, BigInt(POINTS_MAX) * PRICE);

/** A database with numbers on sale, as a node left them that is linked for ever. */
async function stocked() {
  const databaseUrl = await postgres.createDatabase();
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 2 });
  await sql`insert into nodes (id, link_id, link_alive_until) values ('lab', 'link', now() + interval '1 day')`.execute(
    db,
  );
  for (let index = 0; index < NUMBERS; index += 1) {
    const iccid = `890100000000000000${index}`;
    await sql`insert into sims (iccid, node_id, slot, state, updated_at)
      values (${iccid}, 'lab', ${`m${index}`}, 'registered', now())`.execute(db);
    await sql`insert into numbers (number, iccid, created_at)
      values (${`+1206555000${index}`}, ${iccid}, now())`.execute(db);
  }
  return { databaseUrl, db, close };
}

const options = (databaseUrl: string): Partial<Config> => ({
  ...{ databaseUrl, heartbeatMs: 600_000, settlementWaitMs: 2_000 },
});

/** One life: pays, dies at a point, and another process goes on. Returns the points it passed, all when it did not die. */
async function live(diesAt: number, isRenewal: boolean) {
  const { databaseUrl, db, close } = await stocked();
  const first = await startControlPlane(chain, { ...options(databaseUrl), clock: new ManualClock() });
  if (isRenewal) await paySubscribe(first.url, ALICE.privateKey);
  const yearsBefore = isRenewal ? 1 : 0;
  const paidBefore = await chain.dollar.balanceOf(PAY_TO.address);
  const header = await signPaymentHeader(first.url, ALICE.privateKey);
  const request = new AbortController();
  const life: Life = { points: [], diesAt, onDeath: () => request.abort() };
  liveOnce(life, ({ headers }) => headers['x-payment'] === header);
  const answer = await fetch(`${first.url}/subscribe`, {
    ...{ method: 'POST', headers: { 'X-PAYMENT': header }, signal: request.signal },
  }).catch(() => undefined);
  // A kill closes what the process had open.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`
    .execute(db)
    .catch(() => undefined);

  const clock = new ManualClock();
  const second = await startControlPlane(chain, { ...options(databaseUrl), clock });
  const unfinished = async (): Promise<number> => {
    const open = await db
      .selectFrom('payments')
      .select('state')
      .where('state', 'in', ['claimed', 'in_flight'])
      .execute();
    return open.length;
  };
  await until(`an end of every payment after ${life.points.at(-1)}`, async () => {
    clock.advance(MINUTE_MS);
    return (await unfinished()) === 0;
  });
  const paid = (await chain.dollar.balanceOf(PAY_TO.address)) - paidBefore;
  const years = async (): Promise<number> => {
    const rows = await db.selectFrom('subscriptions').select(['created_at', 'expires_at']).execute();
    return rows.reduce(
      (sum, row) => sum + row.expires_at.getUTCFullYear() - row.created_at.getUTCFullYear(),
      0,
    );
  };
  const reserved = await db
    .selectFrom('payments')
    .select('id')
    .where('reserved_number', 'is not', null)
    .execute();
  const story = {
    ...{ point: life.points.at(-1), paid, years: (await years()) - yearsBefore, reserved: reserved.length },
    status: answer?.status,
  };
  const again = await fetch(`${second.url}/subscribe`, { method: 'POST', headers: { 'X-PAYMENT': header } });
  const end = {
    again: again.status,
    paid: (await chain.dollar.balanceOf(PAY_TO.address)) - paidBefore,
    years: (await years()) - yearsBefore,
    recovered: (await recoverToken(second.url, ALICE.privateKey)).status,
  };
  await second.stop();
  await Promise.race([first.stop(), until('a dead process', () => true)]).catch(() => undefined);
  await close();
  return { life, story, end };
}

for (const isRenewal of [false, true]) {
  t.test(isRenewal ? 'a renewal' : 'a new wallet', { timeout: 380_000 }, async (t) => {
    const points: string[] = [];
    for (let diesAt = 0; diesAt < POINTS_MAX; diesAt += 1) {
      const { life, story, end } = await live(diesAt, isRenewal);
      const isWhole = life.points.length <= diesAt;
      const moved = story.paid === PRICE;
      t.ok(story.paid === 0n || moved, `${story.point}: at most one transfer`);
      t.equal(story.years, moved ? 1 : 0, `${story.point}: a year for the money, and none without`);
      t.equal(story.reserved, 0, `${story.point}: no number is kept`);
      t.same(
        end,
        { again: moved ? 409 : 200, paid: PRICE, years: 1, recovered: 200 },
        `${story.point}: in the end`,
      );
      if (isWhole) {
        t.equal(story.status, 200);
        points.push(...life.points);
        break;
      }
    }
    t.comment(`${points.length} points`);
    t.ok(points.length > 40, 'the awaits of a payment');
    t.ok(
      points.some((point) => point.includes('payments/relayer.ts')),
      'the relayer’s, too',
    );
    t.ok(
      points.some((point) => point.includes('store/payments.ts')),
      'and the ledger’s',
    );
  });
}
