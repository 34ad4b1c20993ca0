// Each customer whose number has no service is an alert of its own, whatever the reason.
import t from 'tap';
import { revokeNode } from '#control-plane/store/fleet/nodes.ts';
import { moveNumber } from '#control-plane/store/fleet/number-move.ts';
import { takeSlotOutOfService } from '#control-plane/store/fleet/slot-service.ts';
import type { SubscriptionRow } from '#control-plane/store/money/subscription-list.ts';
import type { Slot } from '#shared/link/slot.ts';
import { ALICE, BUYERS, type Wallet } from '../../dev-stack/wallets.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { validIccid } from '../../fixtures/nodes/valid-iccid.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';
import { startSwiftAlerting } from './swift-alerting.ts';

const TIMEOUT = { timeout: 300_000 };
const MINUTE_MS = 60_000;
const OUT = { state: 'sim_absent', iccid: null, number: null } as const;

const rig = await createRig();

t.test(
  'each customer whose number has no service: no network, no SIM, no link, out of service',
  TIMEOUT,
  async (t) => {
    const { url, databaseUrl, clock, db, hook, pass } = await startSwiftAlerting(t, rig);
    const slots = [1, 2, 3, 4, 5].map((index) => slotAt(index));
    const node = await rig.connect(t, url, { nodeId: 'rack-1', slots });
    const sold = [];
    for (const [index, { number }] of slots.slice(0, 4).entries())
      sold.push(
        await subscribeInStore(databaseUrl, BUYERS[index] as Wallet, String(number), new Date(clock.now())),
      );
    const [refused = '', pulled = '', moved, kept] = sold.map(({ subscriptionId }) => subscriptionId);
    await pass(3 * MINUTE_MS);
    t.same(hook.reported(), [], 'all have service');
    const now = new Date(clock.now());
    await takeSlotOutOfService(db, {
      node: 'rack-1',
      slot: 'm4',
      reason: 'not sold again',
      by: 'operator',
      now,
    });
    const [, , third, fourth, fifth] = slots as [Slot, Slot, Slot, Slot, Slot];
    const report = (...reported: Slot[]): void => node.send({ type: 'slots', slots: reported, alarms: [] });
    report(
      slotAt(1, { state: 'denied', reason: 'denied_plmn', iccid: null, number: null }),
      slotAt(2, { state: 'sim_absent', iccid: null, number: null }),
      slotAt(3, { state: 'sim_absent', iccid: null, number: null }),
      fourth,
      fifth,
    );
    await pass(3 * MINUTE_MS);
    const down = (id: string | undefined): string => `number_down ${id}`;
    t.same(
      hook
        .reported()
        .filter((line) => line.includes('number_down'))
        .sort(),
      [...[refused, pulled, moved].map((id) => `+${down(id)}`).sort()],
    );
    const raised = new Map(
      hook.taken.flatMap(({ body }) => body.data.raised).map((row) => [row.subject, row]),
    );
    t.match(raised.get(refused), {
      severity: 'critical',
      summary:
        /paid until 20\d\d-\d\d-\d\d, has no service in slot m1 of node rack-1: refused by the network \(this network does not accept the card\)(; carrier: 00101)?$/,
    });
    t.match(raised.get(pulled), { summary: /in slot m2 of node rack-1: no SIM$/ });
    const cli = (...args: string[]) =>
      runCommand(['subscription', 'list', ...args], { DATABASE_URL: databaseUrl });
    const { stdout } = await cli('--state', 'down', '--json');
    t.same(
      JSON.parse(stdout)
        .subscriptions.map(({ slot, service }: SubscriptionRow) => `${slot} ${service}`)
        .sort(),
      ['m1 denied', 'm2 sim_absent', 'm3 sim_absent'],
    );
    report(slotAt(1), slotAt(2), { ...third, slot: 'm9' }, fourth, fifth);
    await pass(3 * MINUTE_MS);
    t.equal(hook.reported().filter((line) => line.startsWith('-number_down')).length, 3);
    const before = hook.reported().length;
    const since = (): string[] =>
      hook
        .reported()
        .slice(before)
        .filter((line) => line.startsWith('+'))
        .sort();
    await node.drop();
    await pass(2 * MINUTE_MS);
    await until('all are reported', async () => {
      await pass(MINUTE_MS);
      return since().length >= 5;
    });
    t.same(since(), [
      '+node_offline rack-1',
      ...[refused, pulled, moved, kept].map((id) => `+${down(id)}`).sort(),
    ]);
  },
);

t.test('the SIM of a sold number that a node reports which never had it, for a day', TIMEOUT, async (t) => {
  const { url, databaseUrl, clock, db, hook, pass } = await startSwiftAlerting(t, rig);
  const slots = [slotAt(1), slotAt(2)];
  const node = await rig.connect(t, url, { nodeId: 'rack-1', slots });
  const { subscriptionId } = await subscribeInStore(
    databaseUrl,
    ALICE,
    String(slots[0]?.number),
    new Date(clock.now()),
  );
  node.send({ type: 'slots', slots: [slotAt(1, OUT), slotAt(2, OUT)], alarms: [] });
  await pass(MINUTE_MS);
  await rig.connect(t, url, {
    nodeId: 'rogue',
    slots: slots.map((slot, index) => ({ ...slot, slot: `r${index}` })),
  });
  const reported = (): string[] => hook.reported().filter((each) => each.includes('sim_moved'));
  await until('the move is reported', async () => {
    await pass(MINUTE_MS);
    return reported().length > 0;
  });
  t.same(reported(), ['+sim_moved rogue/r0'], 'not of the number that is not sold');
  const raised = hook.taken.flatMap(({ body }) => body.data.raised).find(({ kind }) => kind === 'sim_moved');
  t.match(raised, {
    severity: 'warning',
    summary: `the SIM of ${subscriptionId} moved from node rack-1 to slot r0 of node rogue, which never had it`,
  });
  const since = new Date(clock.now() - 24 * 60 * MINUTE_MS);
  await db.updateTable('sim_tenures').set({ since }).where('moved_from', 'is not', null).execute();
  await pass(MINUTE_MS);
  t.same(reported(), ['+sim_moved rogue/r0', '-sim_moved rogue/r0']);
});

t.test(
  'a replacement card that was named before a rack had it: its move from there is reported, too',
  TIMEOUT,
  async (t) => {
    const { url, databaseUrl, clock, db, hook, pass } = await startSwiftAlerting(t, rig);
    const card = slotAt(2, { slot: 'm1', iccid: validIccid(2), number: null });
    const node = await rig.connect(t, url, { nodeId: 'rack-1', slots: [slotAt(1)] });
    const now = new Date(clock.now());
    const number = String(slotAt(1).number);
    const { subscriptionId } = await subscribeInStore(databaseUrl, ALICE, number, now);
    await moveNumber(db, { number, card: { iccid: String(card.iccid) }, now });
    node.send({ type: 'slots', slots: [card], alarms: [] });
    const holder = async () =>
      (
        await db
          .selectFrom('sim_tenures')
          .select('node_id')
          .where('iccid', '=', String(card.iccid))
          .where('until', 'is', null)
          .executeTakeFirst()
      )?.node_id;
    await until('the rack has the card', async () => (await holder()) === 'rack-1');
    await pass(MINUTE_MS);
    const moves = (): string[] => hook.reported().filter((each) => each.includes('sim_moved'));
    t.same(moves(), [], 'it was never elsewhere');
    node.send({ type: 'slots', slots: [slotAt(1, OUT)], alarms: [] });
    await until('it is out', async () => (await holder()) === undefined);
    await linkNode(t, url, { nodeId: 'rack-2', journalId: 'journal-2', slots: [{ ...card, slot: 'r1' }] });
    await until('the move is reported', async () => {
      await pass(MINUTE_MS);
      return moves().length > 0;
    });
    t.same(moves(), ['+sim_moved rack-2/r1']);
    const [raised] = await db
      .selectFrom('alerts')
      .select('summary')
      .where('kind', '=', 'sim_moved')
      .execute();
    t.match(raised?.summary, `the SIM of ${subscriptionId} moved from node rack-1 to slot r1 of node rack-2`);
  },
);

t.test('a SIM that is in no slot: where it was last, or that its node is revoked', TIMEOUT, async (t) => {
  const { url, databaseUrl, clock, db, hook, pass } = await startSwiftAlerting(t, rig);
  const node = await rig.connect(t, url, { nodeId: 'rack-1', slots: [slotAt(1), slotAt(2)] });
  const now = new Date(clock.now());
  const { subscriptionId } = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number), now);
  const others = [slotAt(3, { slot: 'm1' }), slotAt(2)];
  node.send({ type: 'slots', slots: others, alarms: [] });
  await until('it is reported', async () => {
    await pass(MINUTE_MS);
    return hook.reported().includes(`+number_down ${subscriptionId}`);
  });
  const summary = async () =>
    (await db.selectFrom('alerts').select('summary').where('kind', '=', 'number_down').executeTakeFirst())
      ?.summary;
  t.match(await summary(), /has no service: SIM in no slot; it was last in slot m1 of node rack-1$/);
  await revokeNode(db, 'rack-1', new Date(clock.now()));
  await pass(MINUTE_MS);
  t.match(await summary(), /has no service: its node is revoked; it was last in slot m1 of node rack-1$/);
});

t.test(
  'a number that nearly used a sending limit, or was refused for it, for an hour',
  TIMEOUT,
  async (t) => {
    const { url, databaseUrl, clock, hook, pass } = await startSwiftAlerting(t, rig, {
      smsPerMinute: 5,
      smsRecipientsPerDay: 100,
      heartbeatMs: 3_600_000,
    });
    const slot = slotAt(1);
    await rig.connect(t, url, { slots: [slot] });
    const now = new Date(clock.now());
    const account = await subscribeInStore(databaseUrl, ALICE, String(slot.number), now);
    const send = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1)
        await fetch(
          `${url}/sms/send`,
          jsonPost({ to: '+13105550188', body: `text ${index}` }, account.headers),
        );
    };
    const line = `sending_limit ${account.subscriptionId}`;
    const reported = (): string[] => hook.reported().filter((each) => each.includes('sending_limit'));
    await send(3);
    await pass(MINUTE_MS);
    t.same(reported(), []);
    await send(6);
    await pass(MINUTE_MS);
    t.same(reported(), [`+${line}`]);
    const raised = hook.taken
      .flatMap(({ body }) => body.data.raised)
      .find(({ kind }) => kind === 'sending_limit');
    t.match(raised, { severity: 'warning', summary: /has used 5 of 5 of its limit messages_per_minute$/ });
    clock.advance(55 * MINUTE_MS);
    await pass(2 * MINUTE_MS);
    t.same(reported(), [`+${line}`]);
    await pass(3 * MINUTE_MS);
    t.same(reported(), [`+${line}`, `-${line}`]);
  },
);
