// A SIM dies under a sold number, and the operator's ways out: a replacement card, another number, more days. Nothing of the customer is lost.
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { inTransaction, openDatabase } from '#control-plane/store/database/database.ts';
import { lockReservations } from '#control-plane/store/fleet/number-pool.ts';
import type { Slot } from '#shared/link/slot.ts';
import { BOB } from '../../dev-stack/wallets.ts';
import { subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { received, subscriber } from '../../fixtures/agents/subscriber.ts';
import { linkNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const SECOND = 1_000;
const REASON = ['--reason', 'the SIM died', '--yes'];
const UNASKED = REASON.slice(0, 2);
/** A card without a number of its own; its check digit was reckoned by hand. */
const NEW_CARD = '89014103211118510720';

async function customer(t: Test, slots: Slot[]) {
  const own = await subscriber(t, rig, { slots, service: { heartbeatMs: 1_000 } });
  const control = (...args: string[]) => runCommand(args, { DATABASE_URL: own.databaseUrl });
  const report = (...reported: Slot[]): void => own.node.send({ type: 'slots', slots: reported, alarms: [] });
  const arrives = async (text: string, change: Partial<ReturnType<typeof received>> = {}) => {
    await own.node.report({ ...received(text), ...change });
  };
  const bodies = async () => (await own.history()).map(({ body }) => body).reverse();
  const id = async () => String((await own.get('/number')).body['sub_account_id']);
  return { ...own, control, report, arrives, bodies, id };
}

t.test('a replacement card: the number, its texts and its year stay', async (t) => {
  const { control, report, arrives, bodies, node, number, send, get } = await customer(t, [slotAt(1)]);
  await arrives('before');
  const card = slotAt(2, { iccid: NEW_CARD, number: null });
  report(slotAt(1, { state: 'sim_absent', iccid: null, number: null }), card);
  const move = ['number', 'move', number, '--to'];
  for (const [args, problem] of [
    [[...move, 'scripted/m1', ...REASON], /scripted holds no SIM in m1/],
    [[...move, 'nowhere', ...REASON], /must be an ICCID, or node\/slot/],
    [
      [...move, String(slotAt(1).iccid), ...REASON],
      /already has the SIM \d+. Give the ICCID of the new card/,
    ],
    [['number', 'move', '+12065559999', '--to', NEW_CARD, ...REASON], /There is no number/],
    [[...move, NEW_CARD], /reason/],
  ] as const) {
    t.match(await control(...args), { status: /[12]/, stderr: problem }, String(problem));
    const preview = await control(...args.filter((arg) => arg !== '--yes'));
    t.match(preview, { status: /[12]/, stderr: problem }, `${problem}, before it asks`);
    t.notMatch(preview.stderr, /Nothing was changed/);
  }
  t.match(await control(...move, NEW_CARD, ...UNASKED), {
    status: 2,
    stderr:
      /^This would happen:\n\+12065550001 gets the SIM \d+; its present card, \d+, has no number then\nThe number is kept by 1 customer: \+1206…0001\nerror: Nothing was changed. Run .* --yes/,
  });
  t.match(await control(...move, NEW_CARD, ...REASON), {
    status: 0,
    stdout: new RegExp(`has the SIM ${NEW_CARD} now`),
  });
  await until('bound', () =>
    node.commands('bind_sim').some(({ params }) => (params as { iccid: string }).iccid === NEW_CARD),
  );
  await until('service', async () => (await send({ to: '+13105550188', body: 'again' })).status === 200);
  const last = node.commands('send_sms').at(-1);
  t.match(last?.params, { iccid: NEW_CARD }, 'it is sent with the new card');
  await arrives('to the new card', { iccid: NEW_CARD });
  await arrives('read from the old card, and late');
  t.same(
    (await bodies()).filter((body) => body !== 'again'),
    ['before', 'to the new card', 'read from the old card, and late'],
  );
  t.equal((await get('/number')).body['number'], number);
  t.match(await control('audit', 'list'), { stdout: /move number +\+1206…0001 +done/ });
});

t.test('a card that is exchanged while the number moves to its slot gets no number', async (t) => {
  const { control, report, number, databaseUrl } = await customer(t, [slotAt(1)]);
  const [card, other] = [NEW_CARD, String(slotAt(3).iccid)];
  report(slotAt(1), slotAt(2, { iccid: card, number: null }));
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 2 });
  t.teardown(close);
  const inSlot = () => db.selectFrom('sims').select('iccid').where('slot', '=', 'm2').executeTakeFirst();
  await until('the card', async () => (await inSlot())?.iccid === card);
  const waits = async () => {
    const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and not granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db);
    return rows.length > 0;
  };
  const moved = await inTransaction(db, async (trx) => {
    await lockReservations(trx);
    const move = control('number', 'move', number, '--to', 'scripted/m2', ...REASON);
    await until('the move waits', waits, 60_000);
    await trx.updateTable('sims').set({ iccid: other }).where('iccid', '=', card).execute();
    return { move };
  });
  t.match(await moved.move, { status: 2, stderr: /exchanged at the same moment. Run the command again/ });
  const kept = await db.selectFrom('numbers').select('iccid').where('number', '=', number).executeTakeFirst();
  t.equal(kept?.iccid, slotAt(1).iccid);
});

t.test(
  'texts of a node that was away: the number moved, and the node restarts before it delivers',
  async (t) => {
    const { control, node, number, url, bodies } = await customer(t, [slotAt(1)]);
    await node.drop();
    const other = await linkNode(t, url, {
      nodeId: 'rack-2',
      slots: [slotAt(2, { iccid: NEW_CARD, number: null })],
      journalId: 'journal-2',
    });
    await until('it is held', async () => {
      const { stdout } = await control('slot', 'list', '--node', 'rack-2');
      return stdout.includes('in service');
    });
    t.match(await control('number', 'move', number, '--to', 'rack-2/m2', ...REASON), { status: 0 });
    const starting = { state: 'starting', iccid: null, number: null } as const;
    const again = await linkNode(t, url, { journalId: 'journal-1', slots: [slotAt(1, starting)] });
    await again.report(received('in the journal of the old node'));
    t.same(await bodies(), ['in the journal of the old node']);
    await until('the new card is bound', () => other.commands('bind_sim').length > 0);
  },
);

t.test('a rogue node that claims the former card forges no text, however it dates it', async (t) => {
  const { control, report, arrives, bodies, number, url } = await customer(t, [slotAt(1)]);
  const began = Date.now();
  report(slotAt(1, { state: 'sim_absent', iccid: null, number: null }));
  t.match(await control('number', 'move', number, '--to', NEW_CARD, ...REASON), { status: 0 });
  const rogue = await linkNode(t, url, { nodeId: 'rogue', slots: [slotAt(1)], journalId: 'journal-r' });
  await until('it holds the card', async () =>
    (await control('slot', 'list', '--node', 'rogue')).stdout.includes('in service'),
  );
  const at = new Date(began).toISOString();
  const forged = { ...received('your code is 666666'), received_at: at };
  await rogue.report({ ...forged, sent_at: at }, { ...forged, sent_at: null }, received('of now'));
  await arrives('read before, and late');
  t.same(await bodies(), ['read before, and late']);
});

t.test(
  'a node that once had the former card forges no text of the time in which another had it',
  async (t) => {
    const { control, node, number, url, bodies, databaseUrl } = await customer(t, [slotAt(1)]);
    const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
    t.teardown(close);
    // Its tenure ended an hour ago; the other one has had the card since.
    const hourAgo = new Date(Date.now() - 3_600_000);
    const tenure = await db.selectFrom('sim_tenures').selectAll().executeTakeFirstOrThrow();
    await linkNode(t, url, { nodeId: 'rack-2', journalId: 'journal-2', slots: [] });
    const since = new Date(hourAgo.getTime() - 3_600_000);
    await db.updateTable('sim_tenures').set({ since, until: hourAgo }).where('id', '=', tenure.id).execute();
    const { iccid, sighting, slot } = tenure;
    const other = { iccid, sighting, sighting_since: hourAgo, slot, node_id: 'rack-2', since: hourAgo };
    await db.insertInto('sim_tenures').values(other).execute();
    await db.updateTable('subscriptions').set({ created_at: since }).execute();
    t.match(await control('number', 'move', number, '--to', NEW_CARD, ...REASON), { status: 0 });
    const dated = (at: Date) => ({ received_at: at.toISOString(), sent_at: at.toISOString() });
    const minutes = (count: number) => new Date(hourAgo.getTime() + count * 60_000);
    await node.report(
      { ...received('forged'), ...dated(minutes(30)) },
      { ...received('it had this then'), ...dated(minutes(-30)) },
    );
    t.same(await bodies(), ['it had this then']);
  },
);

t.test('a number that was given to a customer, and then moved: texts of before stay hidden', async (t) => {
  const { control, arrives, bodies, id } = await customer(t, [slotAt(1), slotAt(2)]);
  const [first, second] = [slotAt(1), slotAt(2)];
  await arrives('to the first number');
  const before = new Date(Date.now() - 20_000).toISOString();
  const reassign = ['subscription', 'reassign', await id(), '--to', String(second.number)];
  t.match(await control(...reassign, ...REASON), { status: 0 });
  t.match(
    (await control('slot', 'list', '--sort', 'reason', '--descending')).stdout,
    /^.* m1 +out of service +\+12065550001 .* 20\S+ \d\d:\d\dZ +number: reassigned: the SIM died /m,
  );
  t.match(await control('number', 'move', String(second.number), '--to', NEW_CARD, ...REASON), { status: 0 });
  await arrives('of the one before', { iccid: String(second.iccid), sent_at: before, received_at: before });
  await arrives('late, of the first', { iccid: String(first.iccid), sent_at: before, received_at: before });
  t.notOk((await bodies()).includes('of the one before'));
});

t.test('a card with a number of its own is not taken from that number', async (t) => {
  const { control, number } = await customer(t, [slotAt(1), slotAt(2)]);
  for (const options of [REASON, UNASKED])
    t.match(await control('number', 'move', number, '--to', String(slotAt(2).iccid), ...options), {
      status: 2,
      stderr: /^error: The SIM \d+ has the number \+12065550002. Retire that number first/,
    });
  t.match(await control('number', 'retire', number), { status: 2, stderr: /^error: \+12065550001 is held/ });
  const spare = String(slotAt(2).number);
  t.match(await control('number', 'retire', spare), {
    status: 2,
    stderr:
      /^This would happen:\n\S+ is retired, even if a SIM still reports it\nIt has no subscriber\nerror: Nothing was changed/,
  });
  t.match(await control('number', 'list', '--state', 'on sale'), { stdout: spare });
});

t.test('another number: old texts stay, and earlier texts to that number are not shown', async (t) => {
  const { control, report, arrives, bodies, databaseUrl, id, get, number } = await customer(t, [
    slotAt(1),
    slotAt(2),
    slotAt(3),
  ]);
  await arrives('before');
  await arrives('to an unsold number', { iccid: String(slotAt(2).iccid) });
  report(slotAt(1, { state: 'sim_absent', iccid: null, number: null }), slotAt(2), slotAt(3));
  const subscription = await id();
  const to = String(slotAt(2).number);
  t.match(await control('subscription', 'reassign', subscription, '--to', number, ...REASON), {
    status: 2,
    stderr: /^error: sub_\w+ already has the number \+12065550001\.$/m,
  });
  const reassign = ['subscription', 'reassign', subscription, '--to', to];
  t.match(await control(...reassign, ...UNASKED), {
    status: 2,
    stderr:
      /^This would happen:\nsub_\w+ gets \+12065550002 in place of \+1206…0001, for good\n\+1206…0001 is out of service then, and in quarantine for 90 days\nerror: Nothing was changed/,
  });
  t.equal((await get('/number')).body['number'], number, 'nothing was changed');
  const once = ['subscription', 'reassign', subscription, '--from', number, ...REASON];
  t.match(await control(...once, '--to', to), { status: 0, stdout: /has the number \+12065550002 now/ });
  t.match(
    await control(...once),
    { status: 2, stderr: /has another number now\. Check it, then try again\.$/m },
    'a script that runs twice',
  );
  await until('the holder learns it', async () => (await get('/number')).body['number'] === to);
  t.same(await bodies(), ['before']);
  await arrives('read before, and late');
  t.same(await bodies(), ['before', 'read before, and late']);
  // As if it were longer ago than clocks may differ.
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  await db
    .updateTable('former_cards')
    .set({ until: new Date(Date.now() - 60_000) })
    .execute();
  await close();
  await arrives('a code, after it');
  t.same(await bodies(), ['before', 'read before, and late'], 'it belongs to no holder');
  t.match(await control('number', 'list', '--json', '--full'), {
    stdout: /"number": ?"\+12065550001"[^}]*"state": ?"out_of_service"/,
  });
  t.match(await control('number', 'in-service', number), { status: 0 });
  t.match(await control('number', 'list', '--state', 'quarantined'), { stdout: /\+12065550001/ });
  t.match(await control('subscription', 'reassign', 'sub_0123', ...REASON), {
    status: 2,
    stderr: /no active subscription/,
  });
});

t.test('the number of another subscriber is not given away', async (t) => {
  const { control, databaseUrl, id } = await customer(t, [slotAt(1), slotAt(2)]);
  const { number } = await subscribeInStore(databaseUrl, BOB, String(slotAt(2).number));
  t.match(await control('subscription', 'reassign', await id(), '--to', number, ...REASON), {
    status: 2,
    stderr: /^error: \+12065550002 belongs to another subscriber\. /m,
  });
});

t.test('a revocation names the customers that it cuts off, and asks', async (t) => {
  const { control } = await customer(t, [slotAt(1), slotAt(2)]);
  const [, name = '', place = ''] = /^(\S+) +(m1) /m.exec((await control('slot', 'list')).stdout) ?? [];
  t.match(await control('node', 'revoke', name), {
    status: 2,
    stderr:
      /^This would happen:\n\S+ is revoked: .*\n1 customer loses service: \+1206…0001\nerror: Nothing was changed. Run .* --yes/,
  });
  t.match((await control('node', 'list')).stdout, new RegExp(`^${name} +linked`, 'm'));
  for (const [command, effect] of [
    [
      ['out-of-service', name, place, ...UNASKED],
      /no number in it is sold\nThe number is kept by 1 customer/,
    ],
    [['restart', name, place], /m1 restarts\nWithout service for about a minute: 1 customer: /],
  ] as const) {
    const asked = await control('slot', ...command);
    t.match(asked, { status: 2, stderr: effect });
    t.match(asked.stderr, /^This would happen:\n/);
    t.match(asked.stderr, /customer: \+1206…0001\nerror: Nothing was changed. Run .* --yes/);
  }
  t.notMatch((await control('slot', 'list')).stdout, 'the SIM died');
  t.match(await control('slot', 'out-of-service', name, place, ...REASON), { status: 0 });
  t.match((await control('slot', 'list')).stdout, 'the SIM died');
  t.match(await control('slot', 'out-of-service', name, 'm2', ...UNASKED), { status: 0 }, 'it concerns none');
  t.match(await control('slot', 'restart', name, place, '--yes'), { stderr: /needs the running service/ });
  t.match(await control('node', 'revoke', 'nowhere'), { status: 2, stderr: /^error: There is no node/ });
  t.match(await control('number', 'move', '+12065550001', '--to', `${name}/${place}`, ...REASON), {
    status: 2,
    stderr: /already has the SIM \d+. If you have just exchanged the card, wait/,
  });
  t.match(await control('node', 'revoke', name, '--yes'), { status: 0, stdout: /is revoked/ });
  t.match((await control('node', 'list')).stdout, new RegExp(`^${name} +revoked`, 'm'));
  t.match((await control('number', 'list')).stdout, /^\+1206…0001 +held +its node is revoked /m);
  t.match((await control('subscription', 'list')).stdout, / its node is revoked /);
});

t.test('more days', async (t) => {
  const { control, id, get } = await customer(t, [slotAt(1)]);
  const before = Date.parse(String((await get('/number')).body['expires_at']));
  const extend = ['subscription', 'extend', await id(), '--days', '30'];
  t.match(await control(...extend, ...UNASKED), {
    status: 2,
    stderr: new RegExp(
      `30 days later, at ${new Date(before + 30 * 86_400 * SECOND).toISOString().slice(0, 10)} \\S+, without a payment`,
    ),
  });
  t.match(await control(...extend, '--days', '1', ...UNASKED), {
    stderr: /ends 1 day later, at \S+ \S+, without/,
  });
  const shown = /^until +(\S+ \S+)$/m.exec((await control('subscription', 'show', await id())).stdout)?.[1];
  const once = ['--ends-at', String(shown), ...REASON];
  t.match(await control(...extend, ...once), { status: 0 });
  const other = { status: 2, stderr: /^error: Nothing was done: sub_\w+ ends at 20\d\d-/ };
  t.match(await control(...extend, ...once), other, 'the script runs twice');
  t.match(await control('subscription', 'end', await id(), ...once), other);
  await until(
    'the holder learns it',
    async () =>
      Date.parse(String((await get('/number')).body['expires_at'])) === before + 30 * 86_400 * SECOND,
  );
  for (const days of ['0', '-1', '3651', 'many'])
    t.match(
      await control('subscription', 'extend', await id(), `--days=${days}`, ...REASON),
      { status: 1, stderr: /must be a whole number from 1 to 3650/ },
      days,
    );
});
