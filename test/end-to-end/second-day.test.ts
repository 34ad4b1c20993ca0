// The second day of an operator: two racks are admitted from a file and sold, cards, racks and programs die under traffic, numbers move,
// money goes back, both programs are upgraded, and the service moves to another host. Then every customer has service or is in an alert, and
// the chain has what the ledger says. The whole: 64 SIMs, 40 of them sold.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { PAY_TO } from '../dev-stack/wallets.ts';
import { PRICE, SAFE_LAG_BLOCKS } from '../fixtures/chain/paid-chain.ts';
import { recoverToken } from '../fixtures/payments/payer.ts';
import { availableAt } from '../fixtures/payments/presented.ts';
import { isWhole } from '../fixtures/sweep.ts';
import { until } from '../fixtures/until.ts';
import { type Customer, OUTSIDE, sell, startTraffic, WAIT_MS } from './second-day/customers.ts';
import { RACKS, startFleet } from './second-day/fleet.ts';
import type { Card } from './second-day/rack.ts';

const [PER_RACK, SOLD] = isWhole() ? [32, 40] : [8, 10];
const LIMIT = 1_000;
const RESEND_MS = 3_000;
const REFUND = (PRICE * 1_000n) / 1_800n;

const sum = (values: readonly (string | null)[]): bigint =>
  values.reduce((all, value) => all + BigInt(value ?? 0), 0n);

t.test('from the admission of two racks to a restored service', { timeout: 1_200_000 }, async (t) => {
  const fleet = await startFleet(t, PER_RACK);
  const { ask, chain, control, dataDir, placeOf, places, postgres, racks, ready, restart, url } = fleet;

  const file = join(dataDir, 'fleet.csv');
  const lines = (await places()).map(({ iccid, number, slot, rack }) =>
    [iccid, number, slot, '4.50', rack.name].join(','),
  );
  writeFileSync(file, `iccid,number,label,monthly_cost,node\n${lines.join('\n')}\n`);
  t.match(await control('fleet', 'apply', file, '--yes'), /applied/);
  const available = () => availableAt(url);
  await until('all are on sale', async () => (await available()) === 2 * PER_RACK, WAIT_MS);

  const customers = await sell(fleet, SOLD);
  t.equal(new Set(customers.map(({ number }) => number)).size, SOLD, 'each has a number of its own');
  t.equal(await available(), 2 * PER_RACK - SOLD);
  // Payments become final while the day goes on.
  await chain.control.mine({ blocks: SAFE_LAG_BLOCKS });
  const subscriptions = async () => (await ask('subscriptions', { limit: LIMIT })).rows;
  const subscriptionOf = async ({ wallet }: Customer) => {
    const found = (await subscriptions()).find((row) => row.wallet.toLowerCase() === wallet);
    if (found === undefined) throw new Error(`no subscription of ${wallet}`);
    return found;
  };
  const downIds = async (): Promise<string[]> =>
    (await ask('alerts', { state: 'open', limit: LIMIT })).rows
      .filter(({ kind }) => kind === 'number_down')
      .map(({ subject }) => subject);

  // Three go through the day undisturbed by anything but programs that die.
  const [dead, reassigned, replaced, moved, refunded, ...others] = customers as [
    Customer,
    Customer,
    Customer,
    Customer,
    Customer,
    ...Customer[],
  ];
  const traffic = startTraffic(others.slice(0, 3));
  t.teardown(() => traffic.stop());
  await traffic.flows('the sale');

  // Two cards die in their modems, one unnoticed by its modem. A third has no service any more: the carrier made another for its number.
  for (const [{ number }, isAnnounced] of [
    [dead, false],
    [reassigned, true],
  ] as const) {
    const { rack, slot } = await placeOf(number);
    await rack.putCard(slot, null, isAnnounced);
  }
  const old = await placeOf(replaced.number);
  const card = await old.rack.issueCard({ number: replaced.number });

  // A card moves to the other rack, into the place of a spare one.
  const from = await placeOf(moved.number);
  const sold = new Set((await subscriptions()).map(({ number }) => number));
  const spare = (await places()).find(
    ({ rack, number }) => rack !== from.rack && number !== null && !sold.has(number),
  );
  if (spare === undefined) throw new Error('the other rack has no spare card');
  await from.rack.putCard(from.slot, null);
  const { iccid, imsi, number } = from;
  await spare.rack.issueCard({ iccid, imsi, number } as Card);
  await spare.rack.putCard(spare.slot, iccid, true);

  // A rack dies, then the service, then the database, each without a word.
  await racks[0]?.kill();
  await traffic.flows('a rack that died');
  await restart('service', 'SIGKILL');
  await traffic.flows('a service that died');
  await postgres.kill();
  await postgres.goUp();
  await ready();
  await traffic.flows('a database that died');

  // Both programs are upgraded.
  await restart('service', 'SIGTERM');
  for (const { daemon } of racks) await restart(daemon, 'SIGTERM');
  await traffic.flows('the upgrade');

  // The operator gives one customer another number, and another a card for the same one. The first is left.
  const ids = await Promise.all(
    [dead, reassigned, replaced].map(async (customer) => (await subscriptionOf(customer)).id),
  );
  await until(
    'all three are in an alert',
    async () => {
      const down = await downIds();
      return ids.every((id) => down.includes(id));
    },
    WAIT_MS,
  );
  await control('subscription', 'reassign', String(ids[1]), '--reason', 'the card died', '--yes');
  reassigned.number = (await subscriptionOf(reassigned)).number;
  t.match(
    await control(
      'number',
      'move',
      replaced.number,
      '--to',
      card.iccid,
      '--reason',
      'a new card came',
      '--yes',
    ),
    new RegExp(`has the SIM ${card.iccid} now; it had ${old.iccid}`),
  );
  await old.rack.putCard(old.slot, card.iccid, true);

  // Money goes back to one. The service moves.
  const { id: refundedId, expires_at: endsAt } = await subscriptionOf(refunded);
  const ending = ['subscription', 'end', refundedId, '--refund=1000', '--reason', 'asked for it'];
  t.match(await control(...ending, '--ends-at', endsAt, '--yes'), /is refunded: 1000 USDC/);
  await fleet.moveHost();
  await traffic.flows('the restore');
  await traffic.stop();
  t.same(traffic.strange, []);

  // Each customer has service, both ways, or is in an alert.
  const served = customers.filter((customer) => customer !== dead && customer !== refunded);
  await until(
    'each subscription has service, or an alert',
    async () => {
      const down = await downIds();
      const { rows } = await ask('subscriptions', { state: 'active', limit: LIMIT });
      const without = rows.filter(({ service }) => service !== 'registered').map(({ id }) => id);
      // An alert ends after two checks without its trouble: only the long run has the time.
      const isSettled = isWhole() ? down.length === 1 : true;
      return (
        rows.length === SOLD - 1 && without.length === 1 && down.includes(String(without[0])) && isSettled
      );
    },
    WAIT_MS,
  );
  t.ok((await downIds()).includes((await subscriptionOf(dead)).id), 'one has none');
  t.equal((await subscriptionOf(moved)).node, spare.rack.name, 'the number is in the other rack');
  t.equal((await placeOf(replaced.number)).iccid, card.iccid);
  await Promise.all(
    served.map(async ({ agent, number }, index) => {
      const sends = async () => (await agent.send(OUTSIDE, 'good night')).status === 200;
      await until(`${number} sends`, sends, WAIT_MS);
      const { rack } = await placeOf(number);
      const text = { from: OUTSIDE, to: number, body: `to customer ${index}` };
      let sentAtMs = 0;
      const receives = async () => {
        // Clocks may differ by ten seconds: for that long after a reassignment, a text is of no holder, and its sender tries again.
        if (Date.now() - sentAtMs > RESEND_MS) {
          t.ok(await rack.deliver(text));
          sentAtMs = Date.now();
        }
        return (await agent.receive()).some(({ body }) => body === text.body);
      };
      await until(`${number} receives`, receives, WAIT_MS);
    }),
  );
  t.equal((await recoverToken(url, refunded.key)).status, 402, 'the year of one has ended');

  // Each cent: the chain against the ledger.
  const { payments } = JSON.parse(
    await control('payment', 'list', '--json', '--full', '--limit', String(LIMIT)),
  ) as {
    payments: { state: string; value: string; refund_value: string | null }[];
  };
  t.equal(payments.length, SOLD);
  t.same([...new Set(payments.map(({ state }) => state))].sort(), ['applied', 'refunded']);
  const earned =
    sum(payments.map(({ value }) => value)) - sum(payments.map(({ refund_value }) => refund_value));
  t.equal(earned, BigInt(SOLD) * PRICE - REFUND);
  t.equal(await chain.dollar.balanceOf(PAY_TO.address), earned, 'the chain has what the ledger says');
  for (const customer of customers)
    t.equal(
      await chain.dollar.balanceOf(privateKeyToAccount(customer.key).address),
      customer === refunded ? REFUND : 0n,
    );
  const { traffic: figures } = JSON.parse(await control('report', 'traffic', '--by', 'node', '--json')) as {
    traffic: { node: string; sent: number; delivered: number }[];
  };
  t.same(figures.map(({ node }) => node).sort(), [...RACKS]);
  t.ok(
    sum(figures.map(({ sent }) => String(sent))) >= BigInt(traffic.accepted.length),
    'no text is missing in the report',
  );
});
