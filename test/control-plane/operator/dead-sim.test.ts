// A SIM dies under a sold number, and the operator's ways out: a replacement card, another number, more days. Nothing of the customer is lost.
import t, { type Test } from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import type { Slot } from '#shared/link/messages.ts';
import { createRig } from '../../fixtures/rig.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { slotAt } from '../../fixtures/scripted-node.ts';
import { received, relink, subscriber } from '../../fixtures/subscriber.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const SECOND = 1_000;
const REASON = ['--reason', 'the SIM died'];
/** A card without a number of its own; its check digit was reckoned by hand. */
const NEW_CARD = '89014103211118510720';

async function customer(t: Test, slots: Slot[]) {
  const own = await subscriber(t, rig, { slots, service: { heartbeatMs: 200 } });
  const control = (...args: string[]) => runProgram('control-plane', args, { DATABASE_URL: own.databaseUrl });
  const report = (...reported: Slot[]): void => own.node.send({ type: 'slots', slots: reported, alarms: [] });
  let sequence = 0;
  const arrives = async (text: string, change: Partial<ReturnType<typeof received>> = {}) => {
    sequence += 1;
    own.node.sendFact(sequence, { ...received(text), ...change });
    await until('the service has it', () => own.node.acknowledged >= sequence);
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
    [[...move, 'rack-1/m1', ...REASON], /node-1 holds no SIM|holds no SIM in m1/],
    [[...move, 'nowhere', ...REASON], /must be an ICCID, or node\/slot/],
    [[...move, String(slotAt(1).iccid), ...REASON], /has the SIM \d+ already/],
    [['number', 'move', '+12065559999', '--to', NEW_CARD, ...REASON], /there is no number/],
    [[...move, NEW_CARD], /reason/],
  ] as const)
    t.match(await control(...args), { status: /[12]/, stderr: problem }, String(problem));
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
  t.match(await control('audit', 'list'), { stdout: /move number +\+1206…0001 +ok/ });
});

t.test(
  'texts of a node that was away: the number moved, and the node restarts before it delivers',
  async (t) => {
    const { control, node, number, url, bodies } = await customer(t, [slotAt(1)]);
    await node.drop();
    const other = await relink(t, url, {
      nodeId: 'rack-2',
      slots: [slotAt(2, { iccid: NEW_CARD, number: null })],
      journalId: 'journal-2',
    });
    await until('it is held', async () => {
      const { stdout } = await control('slot', 'list', '--node', 'rack-2');
      return stdout.includes('registered');
    });
    t.match(await control('number', 'move', number, '--to', 'rack-2/m2', ...REASON), { status: 0 });
    const starting = { state: 'starting', iccid: null, number: null } as const;
    const again = await relink(t, url, { journalId: 'journal-1', slots: [slotAt(1, starting)] });
    again.sendFact(1, received('in the journal of the old node'));
    await until('the service has it', () => again.acknowledged >= 1);
    t.same(await bodies(), ['in the journal of the old node']);
    await until('the new card is bound', () => other.commands('bind_sim').length > 0);
  },
);

t.test('a card with a number of its own is not taken from that number', async (t) => {
  const { control, number } = await customer(t, [slotAt(1), slotAt(2)]);
  t.match(await control('number', 'move', number, '--to', String(slotAt(2).iccid), ...REASON), {
    status: 2,
    stderr: /has the number \+12065550002: retire that number first/,
  });
});

t.test('another number: old texts stay, and what came to it before is not shown', async (t) => {
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
    stderr: /cannot be sold/,
  });
  t.match(await control('subscription', 'reassign', subscription, '--to', to, ...REASON), {
    status: 0,
    stdout: /has the number \+12065550002 now/,
  });
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

t.test('more days', async (t) => {
  const { control, id, get } = await customer(t, [slotAt(1)]);
  const before = Date.parse(String((await get('/number')).body['expires_at']));
  t.match(await control('subscription', 'extend', await id(), '--days', '30', ...REASON), { status: 0 });
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
