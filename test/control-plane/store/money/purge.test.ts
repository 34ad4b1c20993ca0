// A subscription after its grace time: everything that it held is gone, the number is on sale again.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { Config } from '#control-plane/config/config.ts';
import type { Database } from '#control-plane/store/database/database.ts';
import { createPaymentLedger } from '#control-plane/store/money/payments.ts';
import { purgeLapsed } from '#control-plane/store/money/purge.ts';
import { ALICE, BOB, PAY_TO } from '../../../dev-stack/wallets.ts';
import { jsonPost } from '../../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { received } from '../../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../../fixtures/clocks/manual-clock.ts';
import { tablesWith } from '../../../fixtures/database/database-dump.ts';
import { lapsed, SECRET } from '../../../fixtures/database/lapsed-subscription.ts';
import { waitsForLock } from '../../../fixtures/database/locks.ts';
import { mortalDatabase } from '../../../fixtures/database/mortal-database.ts';
import { openTestDatabase } from '../../../fixtures/database/test-database.ts';
import { linkNode, slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import { buyNumber, recoverToken } from '../../../fixtures/payments/payer.ts';
import { availableAt } from '../../../fixtures/payments/presented.ts';
import { MINUTE_MS, roundIsOver } from '../../../fixtures/service/housekeeping.ts';
import { createRig } from '../../../fixtures/service/rig.ts';
import { until } from '../../../fixtures/until.ts';

const rig = await createRig();
const [HOUR_MS, DAY_MS] = [60 * MINUTE_MS, 24 * 60 * MINUTE_MS];
/** Hash of a transfer that no process searches for. */
const HASH = `0x${'ab'.repeat(32)}` as const;

/** Alice's year ended `endedMs` ago; she has messages of every kind. */
async function setUp(t: Test, endedMs: number, options: Partial<Config> = {}) {
  const clock = new ManualClock();
  const { url, databaseUrl } = await rig.start(t, { clock, heartbeatMs: 3_650 * DAY_MS, ...options });
  const node = await rig.connect(t, url, { journalId: 'journal-1' });
  const db = await openTestDatabase(t, databaseUrl);
  const account = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number), new Date(clock.now()));
  await node.report(received(SECRET), {
    kind: 'sms_unreadable',
    iccid: String(slotAt(1).iccid),
    pdu: '0791SECRETPDU',
    reason: 'no such alphabet',
    received_at: new Date(clock.now()).toISOString(),
  });
  const sent = await fetch(
    `${url}/sms/send`,
    jsonPost({ to: '+13105550188', body: SECRET }, account.headers),
  );
  t.equal(sent.status, 200);
  const expires_at = new Date(clock.now() - endedMs);
  await db
    .updateTable('subscriptions')
    .set({ expires_at, created_at: new Date(expires_at.getTime() - 365 * DAY_MS) })
    .execute();
  const available = () => availableAt(url);
  const exists = async () =>
    (await db.selectFrom('subscriptions').select('id').where('id', '=', account.subscriptionId).execute())
      .length === 1;
  const marked = async () => {
    const rows = await db.selectFrom('subscriptions').select('lapsed_at').execute();
    return rows[0]?.lapsed_at?.getTime();
  };
  /** One more round of housekeeping, in which something becomes true. */
  const afterRound = async (what: string, probe: () => Promise<boolean>) => {
    clock.advance(MINUTE_MS);
    await until(what, probe);
    await roundIsOver(clock);
  };
  return { url, databaseUrl, clock, node, db, account, available, exists, marked, afterRound };
}

t.test(
  'an hour after the grace time: nothing is left but the ledger, and the number is on sale',
  async (t) => {
    const { node, available, ...rest } = await setUp(t, 30 * DAY_MS);
    const { url, clock, db, account, exists, marked, afterRound } = rest;
    await db
      .insertInto('payments')
      .values({
        id: 'pay_1',
        chain_id: 84532,
        asset: '0x01',
        payer: ALICE.address.toLowerCase(),
        nonce: '0x01',
        pay_to: PAY_TO.address,
        value: '1',
        valid_after: '0',
        valid_before: '1',
        signature: '0x',
        state: 'applied',
        reserved_number: null,
        raw_transaction: null,
        transaction_hash: null,
        transaction_nonce: null,
        subscription_id: account.subscriptionId,
        failure: null,
        created_at: new Date(),
        updated_at: new Date(),
      })
      .execute();
    await afterRound('it is found', async () => (await marked()) !== undefined);
    t.same(await tablesWith(db, SECRET), ['messages']);
    clock.set(clock.now() + HOUR_MS - MINUTE_MS - 1);
    await afterRound('a round before the hour is over', exists);
    t.equal(await exists(), true);
    t.equal(await available(), 0, 'the number is kept');
    await afterRound('it is purged', async () => !(await exists()));
    t.equal(await available(), 0, 'the texts on its SIM have to be read before');
    clock.set(clock.now() + 2 * MINUTE_MS);
    const slots = [slotAt(1, { swept_at: new Date(clock.now()).toISOString() })];
    node.send({ type: 'slots', alarms: [], slots });
    await until('it is swept', async () => (await available()) === 1);
    t.same(await tablesWith(db, SECRET), []);
    t.same(await tablesWith(db, 'SECRETPDU'), []);
    t.same(await tablesWith(db, ALICE.address.slice(2).toLowerCase()), ['payments'], 'the ledger stays');
    t.same(
      (await tablesWith(db, account.subscriptionId)).sort(),
      ['payments', 'sims'],
      'and a name of nothing',
    );
    t.equal((await fetch(`${url}/number`, { headers: account.headers })).status, 401);
    t.equal((await recoverToken(url, ALICE.privateKey)).status, 402);
  },
);

t.test('a later holder gets nothing that came before, also when the node reports it later', async (t) => {
  const { url, clock, node, db, exists, marked, afterRound } = await setUp(t, 30 * DAY_MS);
  const now = clock.now();
  await afterRound('it is found', async () => (await marked()) !== undefined);
  clock.set(clock.now() + HOUR_MS);
  await afterRound('it is purged', async () => !(await exists()));
  await node.report(received('for no holder'));
  // Payments are made at the time of the chain.
  clock.set(now);
  await sql`update former_holdings set held_until = ${new Date(now - 2 * MINUTE_MS)}`.execute(db);
  const bought = await buyNumber(url, BOB.privateKey);
  t.match(bought, { number: slotAt(1).number, renewed: false });
  await node.drop();
  const again = await linkNode(t, url, { journalId: 'journal-1', oldestSequence: 4 });
  const at = (ms: number) => new Date(now + ms).toISOString();
  const before = {
    ...received('kept on the node for Alice'),
    received_at: at(-HOUR_MS),
    sent_at: at(-HOUR_MS),
  };
  await again.report(
    before,
    { ...before, sent_at: null },
    { ...received('for Bob'), received_at: at(0), sent_at: at(0) },
    { ...received('a slow node clock'), received_at: at(-HOUR_MS), sent_at: at(0) },
    { ...received('read now, sent long ago'), sent_at: at(-8 * HOUR_MS) },
  );
  const inbox = await fetch(`${url}/sms/messages`, { headers: { Authorization: `Bearer ${bought.token}` } });
  const { messages } = (await inbox.json()) as { messages: Array<{ body: string }> };
  t.same(
    messages.map(({ body }) => body),
    ['a slow node clock', 'for Bob'],
  );
  const nodes = await db.selectFrom('nodes').select('unheld_messages').execute();
  t.match(nodes, [{ unheld_messages: 4 }], 'and the others are counted');
});

t.test('within the grace time nothing is purged, however often it is checked', async (t) => {
  const { url, clock, exists, marked, afterRound } = await setUp(t, 30 * DAY_MS - 3 * HOUR_MS);
  for (let round = 0; round < 3; round += 1) {
    clock.set(clock.now() + HOUR_MS - 2 * MINUTE_MS);
    await afterRound('a round', async () => (await fetch(`${url}/availability`)).ok);
  }
  t.equal(await marked(), undefined);
  t.equal(await exists(), true);
});

t.test('GRACE_DAYS is the operator’s', async (t) => {
  const { clock, exists, marked, afterRound } = await setUp(t, 2 * DAY_MS, { graceDays: 2 });
  await afterRound('it is found', async () => (await marked()) !== undefined);
  clock.set(clock.now() + HOUR_MS);
  await afterRound('it is purged', async () => !(await exists()));
});

t.test('a clock that is years ahead for less than an hour purges nothing, ever', async (t) => {
  const { clock, exists, marked, afterRound } = await setUp(t, -300 * DAY_MS);
  const now = clock.now();
  clock.set(now + 3_650 * DAY_MS);
  await afterRound('it looks lapsed', async () => (await marked()) !== undefined);
  clock.set(now + 10 * MINUTE_MS);
  await afterRound('and does not any more', async () => (await marked()) === undefined);
  clock.set(now + 3_650 * DAY_MS + 2 * HOUR_MS);
  await afterRound('it begins again', async () => (await marked()) !== undefined);
  t.equal(await exists(), true);
});

t.test('a clock set back after a purge, or past the mark, stops nothing', async (t) => {
  const { clock, exists, marked, afterRound } = await setUp(t, 60 * DAY_MS);
  const now = clock.now();
  clock.set(now + 3_650 * DAY_MS);
  await afterRound('found by a clock that is ahead', async () => ((await marked()) ?? 0) > now + DAY_MS);
  clock.set(now);
  await afterRound('the mark is of today', async () => ((await marked()) ?? 0) < now + DAY_MS);
  clock.set(clock.now() + HOUR_MS);
  await afterRound('it is purged', async () => !(await exists()));
});

t.test('a renewal after the grace time, before the purge, keeps everything', async (t) => {
  const { url, clock, account, exists, marked, afterRound } = await setUp(t, 30 * DAY_MS);
  await afterRound('it is found', async () => (await marked()) !== undefined);
  t.match(await buyNumber(url, ALICE.privateKey), { renewed: true, number: account.number });
  clock.set(clock.now() + 2 * HOUR_MS);
  await afterRound('the mark is gone', async () => (await marked()) === undefined);
  t.equal(await exists(), true);
  t.equal((await fetch(`${url}/number`, { headers: account.headers })).status, 200);
});

t.test('while a payment may still be applied it is not purged; once it cannot be, it is', async (t) => {
  const databaseUrl = await rig.postgres.createMigrated();
  const db = await openTestDatabase(t, databaseUrl);
  for (const state of ['claimed', 'in_flight'] as const) {
    const { id, payment, purge } = await lapsed(db, { payment: state });
    t.same(await purge(), [], state);
    await db.updateTable('payments').set({ state: 'released' }).where('id', '=', String(payment)).execute();
    t.same(await purge(), [id], `${state}, released`);
  }
  // Refused payments, one after the other, would hold the number for ever.
  for (const state of ['reverted', 'released', 'void', 'applied'] as const) {
    const { id, purge } = await lapsed(db, { payment: state });
    t.same(await purge(), [id], state);
  }
  const { id, payment, purge } = await lapsed(db, { payment: 'reverted' });
  const came = db.updateTable('payments').where('id', '=', String(payment));
  await came.set({ transfer_hash: '0x01' }).execute();
  t.same(await purge(), [], 'its money came after all');
  await came.set({ state: 'refunded' }).execute();
  t.same(await purge(), [id], 'and went back');
});

t.test('many messages take many rounds, and the number is free after the last', async (t) => {
  const db = await openTestDatabase(t, await rig.postgres.createMigrated());
  const { id, purge, left, isThere } = await lapsed(db, { messages: 25_000 });
  for (const messages of [15_000, 5_000, 0, 0, 0])
    t.same([await purge(), await left(), await isThere()], [[], messages, true]);
  t.same([await purge(), await left(), await isThere()], [[id], 0, false]);
});

t.test(
  'killed at any statement: the next process finishes it, and never is a number free too early',
  async (t) => {
    const databaseUrl = await rig.postgres.createMigrated();
    const db = await openTestDatabase(t, databaseUrl);
    for (let statements = 0; ; statements += 1) {
      const { id, purge, left, isThere } = await lapsed(db);
      const life = { left: statements };
      const mortal = mortalDatabase(databaseUrl, life);
      const purged = await purge(mortal).catch(() => undefined);
      await mortal.destroy();
      t.ok((await isThere()) || (await left()) === 0, `after ${statements} statements`);
      if (purged !== undefined) {
        t.same(purged, [id]);
        t.ok(statements > 6, 'all of its statements');
        break;
      }
      await purge();
      t.same([await left(), await isThere()], [0, false]);
    }
  },
);

t.test('two instances at once purge each subscription once', async (t) => {
  const databaseUrl = await rig.postgres.createMigrated();
  const [one, other] = [await openTestDatabase(t, databaseUrl), await openTestDatabase(t, databaseUrl)];
  const all = [await lapsed(one)];
  while (all.length < 20) all.push(await lapsed(one, { messages: 50 }));
  const purge = (db: Database) => purgeLapsed(db, { graceMs: 30 * DAY_MS, now: new Date() });
  const purged = await Promise.all([one, other, one, other].map(purge));
  const later = await purge(one);
  t.same([...purged, later].flat().sort(), all.map(({ id }) => id).sort(), 'each once');
});

/** The part that a wallet signs to pay; the ledger ignores the rest. */
const authorizationOf = (from: `0x${string}`) => ({
  chainId: 84532,
  asset: `0x${'aa'.repeat(20)}` as const,
  from,
  to: PAY_TO.address,
  value: 1n,
  validAfter: 0n,
  validBefore: 1n,
  nonce: `0x${'01'.repeat(32)}` as const,
  signature: '0x01' as const,
  signedBy: 'key' as const,
});

t.test(
  'a payment that is being claimed when the purge comes: the subscription stays and is extended',
  async (t) => {
    const databaseUrl = await rig.postgres.createMigrated();
    const [db, other] = [await openTestDatabase(t, databaseUrl), await openTestDatabase(t, databaseUrl)];
    const { id, wallet, number, purge, isThere } = await lapsed(db, { messages: 0 });
    const ledger = createPaymentLedger(other);
    let claiming: ReturnType<typeof ledger.claim> | undefined;
    let purging: ReturnType<typeof purge> | undefined;
    await db.transaction().execute(async (trx) => {
      // The claim has seen the holder, and waits to write.
      await sql`lock table payments in share mode`.execute(trx);
      claiming = ledger.claim(authorizationOf(wallet), {
        now: new Date(),
        yearsAheadMax: 2,
        runsCode: false,
      });
      await until('the claim waits', waitsForLock(db, 1));
      purging = purge();
      await until('the purge waits for it', waitsForLock(db, 2));
    });
    const claim = await claiming;
    t.same(await purging, []);
    t.equal(await isThere(), true);
    if (claim?.kind !== 'claimed') throw new Error(claim?.kind);
    t.match(await ledger.apply(claim.payment.id, HASH, new Date()), {
      renewed: true,
      subscription: { id, number },
    });
  },
);

t.test('a payment that comes while the purge is under way: a new number is reserved for it', async (t) => {
  const databaseUrl = await rig.postgres.createMigrated();
  const [db, other] = [await openTestDatabase(t, databaseUrl), await openTestDatabase(t, databaseUrl)];
  const { id, wallet, number, purge } = await lapsed(db, { messages: 0 });
  await sql`insert into nodes (id, link_id, link_alive_until) values ('lab', 'x', now() + interval '1 day')`.execute(
    db,
  );
  await sql`insert into sims (iccid, node_id, slot, state, swept_at, updated_at)
    select iccid, 'lab', 'm1', 'registered', now() + interval '1 hour', now() from numbers where number = ${number}`.execute(
    db,
  );
  const ledger = createPaymentLedger(other);
  let claiming: ReturnType<typeof ledger.claim> | undefined;
  let purging: ReturnType<typeof purge> | undefined;
  await db.transaction().execute(async (trx) => {
    // The purge has deleted the subscription, and waits to go on.
    await sql`lock table unreadable_messages in share mode`.execute(trx);
    purging = purge();
    await until('the purge waits', waitsForLock(db, 1));
    claiming = ledger.claim(authorizationOf(wallet), { now: new Date(), yearsAheadMax: 2, runsCode: false });
    await until('the claim waits for it', waitsForLock(db, 2));
  });
  t.same(await purging, [id]);
  const claim = await claiming;
  if (claim?.kind !== 'claimed') throw new Error(claim?.kind);
  const applied = await ledger.apply(claim.payment.id, HASH, new Date());
  t.match(applied, { renewed: false, subscription: { number } });
  t.not(applied?.subscription.id, id);
});

t.test('a message that comes during the purge belongs to no holder, and stops no link', async (t) => {
  const { db, node, databaseUrl, account } = await setUp(t, 60 * DAY_MS);
  await db
    .updateTable('subscriptions')
    .set({ lapsed_at: new Date(Date.now() - DAY_MS) })
    .execute();
  const other = await openTestDatabase(t, databaseUrl);
  let purging: Promise<string[]> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`lock table unreadable_messages in share mode`.execute(trx);
    purging = purgeLapsed(other, { graceMs: 0, now: new Date() });
    await until('the purge waits', waitsForLock(db, 1));
    node.sendFact(3, received('too late'));
    await until('the message waits for it', waitsForLock(db, 2));
  });
  t.same(await purging, [account.subscriptionId]);
  await until('the fact', () => node.acknowledged === 3);
  t.equal(node.closeCode, undefined);
  t.same(await tablesWith(db, 'too late'), []);
});

t.test('a message that is being stored when the purge comes goes with the next round', async (t) => {
  const databaseUrl = await rig.postgres.createMigrated();
  const [db, other] = [await openTestDatabase(t, databaseUrl), await openTestDatabase(t, databaseUrl)];
  const { id, number, purge, isThere } = await lapsed(db, { messages: 0 });
  let purging: ReturnType<typeof purge> | undefined;
  await db.transaction().execute(async (trx) => {
    await sql`insert into messages (subscription_id, direction, from_number, to_number, body, created_at)
      values (${id}, 'received', '+13105550188', ${number}, ${SECRET}, now())`.execute(trx);
    purging = purge(other);
    await until('the purge waits for it', waitsForLock(db, 1));
  });
  t.same([await purging, await isThere()], [[], true]);
  t.same([await purge(), await tablesWith(db, SECRET)], [[id], []]);
});
