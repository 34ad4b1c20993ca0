// A number that changes hands, with the real daemon. Texts that were sent in the time of the former holder and are read later are in no
// inbox. Texts that were sent to the next holder are all in theirs.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { purgeLapsed } from '#control-plane/store/money/purge.ts';
import { parseFault } from '#hardware-sim/faults/fault-set.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { ALICE, BOB } from '../dev-stack/wallets.ts';
import { subscribeInStore } from '../fixtures/agents/subscribed.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { buyNumber } from '../fixtures/payments/payer.ts';
import { createRig } from '../fixtures/service/rig.ts';
import { rackStack } from '../fixtures/stacks/rack-stack.ts';
import { until } from '../fixtures/until.ts';

const rig = await createRig();
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** One modem, whose number belongs to Alice. The clock of the service center can be set. */
async function setUp(t: Test) {
  let offMs = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + offMs };
  const stack = await rackStack(t, rig, { modems: 1, clock });
  const { databaseUrl, simulator, url } = stack;
  const [modem] = simulator.modems;
  if (modem === undefined) throw new Error('no modem');
  const { number } = modem.identity;
  const db = await openTestDatabase(t, databaseUrl);
  const yearAgo = new Date(Date.now() - 366 * DAY_MS);
  const alice = await subscribeInStore(databaseUrl, ALICE, number, yearAgo);
  const bodiesOf = async (token: string): Promise<string[]> => {
    const response = await fetch(`${url}/sms/messages`, { headers: { Authorization: `Bearer ${token}` } });
    const { messages } = (await response.json()) as { messages: Array<{ body: string }> };
    return messages.map(({ body }) => body).sort();
  };
  return {
    ...stack,
    db,
    number,
    alice,
    bodiesOf,
    /** A text that the service center took that long ago, by its clock. */
    send(body: string, agoMs: number): void {
      offMs = -agoMs;
      simulator.carrier.send({ from: '+13105550188', to: number, body });
      offMs = 0;
    },
    play: (fault: object) => modem.play(parseFault(fault)),
    clearFaults: () => modem.clearFaults(),
    /** The messages on the card, in the modem and at the service center. */
    waiting: (): number =>
      modem.stores.used('SM') +
      modem.stores.used('ME') +
      simulator.carrier.waitingCount(modem.identity.iccid),
    /** Alice's grace time is over. */
    async free(): Promise<void> {
      await sql`update subscriptions set lapsed_at = now() - interval '1 day'`.execute(db);
      t.same(await purgeLapsed(db, { graceMs: 0, now: new Date() }), [alice.subscriptionId]);
    },
    /** Two minutes pass since then, as far as the service knows. */
    passTime: () =>
      sql`update former_holdings set held_until = held_until - interval '2 minutes'`.execute(db),
    nobodys: async (): Promise<number> =>
      (await db.selectFrom('nodes').select('unheld_messages').executeTakeFirstOrThrow()).unheld_messages,
    /** Sells the number to Bob whatever the pool says. */
    sell: () => subscribeInStore(databaseUrl, BOB, number),
  };
}

t.test('a daemon that is down over the change of holder', { timeout: 120_000 }, async (t) => {
  const rack = await setUp(t);
  await rack.stopDaemon();
  for (let text = 1; text <= 5; text += 1) rack.send(`for Alice ${text}`, 10 * MINUTE_MS);
  rack.send(`for Alice, in parts ${'x'.repeat(200)}`, 10 * MINUTE_MS);
  await rack.free();
  await rack.passTime();
  const bob = await rack.sell();
  rack.send('for Bob, by a clock that is behind', 4_000);
  rack.send('for Bob, by a clock that is ahead', -4_000);
  rack.send('for Bob', 0);
  await rack.startDaemonAgain();
  await until('all is read', () => rack.waiting() === 0, 60_000);
  await until(
    'and sorted',
    async () => (await rack.nobodys()) + (await rack.bodiesOf(bob.token)).length === 9,
  );
  t.same(await rack.bodiesOf(bob.token), [
    'for Bob',
    'for Bob, by a clock that is ahead',
    'for Bob, by a clock that is behind',
  ]);
});

t.test(
  'lost announcements: on sale only after a sweep, and no holder gets them',
  { timeout: 120_000 },
  async (t) => {
    const rack = await setUp(t);
    rack.play({ kind: 'urc_lost', count: 10 });
    for (let text = 1; text <= 5; text += 1) rack.send(`for Alice ${text}`, 10 * MINUTE_MS);
    await rack.free();
    t.equal(await rack.available(), 0, 'the texts on the card have to be read before');
    await rack.stopDaemon();
    await rack.passTime();
    await rack.startDaemonAgain();
    await until('it is on sale', async () => (await rack.available()) === 1, 60_000);
    await until('it was read before', async () => (await rack.nobodys()) === 5);
    const bob = await buyNumber(rack.url, BOB.privateKey);
    t.match(bob, { number: rack.number, renewed: false });
    rack.send('for Bob, not announced', 4_000);
    rack.play({ kind: 'reset' });
    await until('a text for Bob', async () => (await rack.bodiesOf(bob.token)).length > 0, 60_000);
    t.same(await rack.bodiesOf(bob.token), ['for Bob, not announced']);
  },
);

t.test('a hung modem, and what waits at the service centre', { timeout: 180_000 }, async (t) => {
  const rack = await setUp(t);
  rack.play({ kind: 'silent' });
  rack.send('for Alice, in the modem', 10 * MINUTE_MS);
  await rack.free();
  await rack.passTime();
  const bob = await rack.sell();
  rack.clearFaults();
  await rack.stopDaemon();
  rack.play({ kind: 'store_full' });
  rack.send('for Alice, at the service centre', 10 * MINUTE_MS);
  rack.send('for Bob, at the service centre', 4_000);
  await rack.startDaemonAgain();
  await until('the text that was on the card', async () => (await rack.nobodys()) === 1, 60_000);
  rack.clearFaults();
  await until('all is read', () => rack.waiting() === 0, 60_000);
  await until(
    'and sorted',
    async () => (await rack.nobodys()) + (await rack.bodiesOf(bob.token)).length === 3,
  );
  t.same(await rack.bodiesOf(bob.token), ['for Bob, at the service centre']);
});

t.test('the current subscriber gets the texts that were read late', { timeout: 120_000 }, async (t) => {
  const rack = await setUp(t);
  await rack.stopDaemon();
  rack.send('for Alice, in her grace time', 10 * MINUTE_MS);
  rack.send('for Alice, a month ago', 30 * DAY_MS);
  await rack.startDaemonAgain();
  const messages = rack.db.selectFrom('messages').select(['subscription_id', 'body']).orderBy('body');
  await until('both', async () => (await messages.execute()).length === 2, 60_000);
  t.same(await messages.execute(), [
    { subscription_id: rack.alice.subscriptionId, body: 'for Alice, a month ago' },
    { subscription_id: rack.alice.subscriptionId, body: 'for Alice, in her grace time' },
  ]);
});
