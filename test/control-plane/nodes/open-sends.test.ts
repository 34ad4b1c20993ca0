// Sends whose request ended before their outcome, with the link or with an instance: the node says what became of them.
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase } from '#control-plane/store/database/database.ts';
import { OPEN_SENDS_MAX } from '#control-plane/store/messages/messages.ts';
import { subscriber } from '../../fixtures/agents/subscriber.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { acceptAll, type Command, linkNode } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

t.test(
  'a link that breaks in mid-send: unknown, then closed by what the node recorded, never sent again',
  async (t) => {
    const { url, node, send, history } = await subscriber(t, rig, {
      onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
    });
    const sending = send({ to: '+13105550188', body: 'broken' });
    await until('the command is at the node', () => node.commands('send_sms').length === 1);
    await node.drop();
    t.equal((await sending).status, 502);
    t.match(await history(), [{ status: 'unknown' }]);

    const back = await linkNode(t, url, { journalId: 'journal-1' });
    await until('closed', async () => (await history())[0]?.status === 'queued');
    t.match(back.commands('send_sms'), [{ id: node.commands('send_sms')[0]?.id, time_left_ms: 0 }]);
  },
);

t.test('a send that the node never saw is failed when the node comes back', async (t) => {
  const { url, node, send, history } = await subscriber(t, rig, {
    onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
  });
  const sending = send({ to: '+13105550188', body: 'lost' });
  await until('on its way', () => node.commands('send_sms').length === 1);
  await node.drop();
  await sending;
  await linkNode(t, url, {
    onCommand: (command) =>
      command.name === 'send_sms'
        ? { type: 'refusal', id: command.id, code: 'deadline_passed', message: 'never seen' }
        : acceptAll(command),
  });
  await until('closed', async () => (await history())[0]?.status === 'failed');
});

t.test('a send that waits in the node when it is asked about, and is refused there later', async (t) => {
  const clock = new ManualClock();
  const isSilent = (command: Command) => (command.name === 'send_sms' ? undefined : acceptAll(command));
  const { url, node, send, history } = await subscriber(t, rig, {
    service: { clock, heartbeatMs: 60_000 },
    onCommand: isSilent,
  });
  const sending = send({ to: '+13105550188', body: 'waiting' });
  await until('on its way', () => node.commands('send_sms').length === 1);
  await node.drop();
  await sending;
  clock.advance(1_000);
  let isLate = false;
  const refusalOf = ({ id }: Command) =>
    ({ type: 'refusal', id, code: 'deadline_passed', message: 'the deadline is over' }) as const;
  const back = await linkNode(t, url, {
    onCommand: (command) => (isLate && command.name === 'send_sms' ? refusalOf(command) : isSilent(command)),
  });
  await until('asked', () => back.commands('send_sms').length === 1);
  clock.advance(30_000);
  const [asked] = back.commands('send_sms');
  if (asked === undefined) throw new Error('no command');
  // The request is over, so this answer reaches no client.
  back.send(refusalOf(asked));
  t.match(await history(), [{ status: 'unknown' }]);
  isLate = true;
  await until('asked again, and closed', async () => {
    clock.advance(30_000);
    return (await history())[0]?.status === 'failed';
  });
});

t.test('a send whose instance died, while the link of its node at another one lives on', async (t) => {
  const clock = new ManualClock();
  const LOST = 'msg_lost';
  const { databaseUrl, node, send, history } = await subscriber(t, rig, {
    service: { clock, heartbeatMs: 60_000, sendTimeoutMs: 5_000 },
    onCommand: (command) =>
      command.id === LOST
        ? { type: 'refusal', id: command.id, code: 'deadline_passed', message: 'never seen' }
        : acceptAll(command),
  });
  await send({ to: '+13105550188', body: 'left behind' });
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  // As the instance left it: recorded, and never given to the node.
  await db
    .updateTable('messages')
    .set({ status: 'sending', command_id: LOST, message_id: null, created_at: new Date(clock.now()) })
    .execute();
  await close();
  const asked = () => node.commands('send_sms').filter(({ id }) => id === LOST);
  /** The node has answered the heartbeat when its answer to a later command is here. */
  const passMinute = async (body: string) => {
    clock.advance(60_000);
    t.equal((await send({ to: '+13105550188', body })).status, 200);
  };
  await passMinute('one');
  t.same(asked(), [], 'a request may wait for it');
  await passMinute('two');
  await passMinute('three');
  await until('closed', async () => (await history()).some(({ status }) => status === 'failed'));
  t.match(asked(), [{ time_left_ms: 0 }], 'asked once, and not sent late');
});

t.test('a send whose instance died, while the node never answers about an earlier one', async (t) => {
  const clock = new ManualClock();
  const [LOST, SILENT] = ['msg_lost', 'msg_silent'];
  const { url, databaseUrl, node, send, history } = await subscriber(t, rig, {
    service: { clock, heartbeatMs: 60_000, sendTimeoutMs: 5_000 },
  });
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  /** As an instance that died leaves a text: recorded, and never given to the node. */
  const leaveBehind = async (id: string) => {
    t.equal((await send({ to: '+13105550188', body: id })).status, 200);
    await db
      .updateTable('messages')
      .set({ status: 'sending', command_id: id, message_id: null, created_at: new Date(clock.now()) })
      .where('body', '=', id)
      .execute();
  };
  await leaveBehind(SILENT);
  clock.advance(1_000);
  await node.drop();
  const back = await linkNode(t, url, {
    onCommand: (command) => {
      if (command.id === SILENT) return undefined;
      return command.id === LOST
        ? { type: 'refusal', id: command.id, code: 'deadline_passed', message: 'never seen' }
        : acceptAll(command);
    },
  });
  await until('asked', () => back.commands('send_sms').some(({ id }) => id === SILENT));
  await leaveBehind(LOST);
  await close();
  for (const body of ['one', 'two', 'three', 'four']) {
    clock.advance(60_000);
    t.equal((await send({ to: '+13105550188', body })).status, 200);
  }
  await until('closed', async () => {
    const rows = await history();
    return rows.some(({ body, status }) => body === LOST && status === 'failed');
  });
});

t.test('a send behind many undecided ones has its turn', async (t) => {
  const { url, databaseUrl, node, send, history } = await subscriber(t, rig, {
    onCommand: (command) => (command.name === 'send_sms' ? undefined : acceptAll(command)),
  });
  const sending = send({ to: '+13105550188', body: 'behind' });
  await until('on its way', () => node.commands('send_sms').length === 1);
  await node.drop();
  await sending;
  const last = String(node.commands('send_sms')[0]?.id);
  const { db, close } = await openDatabase({ url: databaseUrl, connectionsMax: 1 });
  const { id: _, mms: __, ...row } = await db.selectFrom('messages').selectAll().executeTakeFirstOrThrow();
  const before = Array.from({ length: 2 * OPEN_SENDS_MAX }, (_, index) => ({
    ...row,
    delivered_parts: sql<number[]>`array[]::integer[]`,
    command_id: `msg_${index}`,
  }));
  await db.deleteFrom('messages').execute();
  await db
    .insertInto('messages')
    .values([...before, { ...row, delivered_parts: sql<number[]>`array[]::integer[]` }])
    .execute();
  await close();
  await linkNode(t, url, {
    onCommand: (command) => {
      if (command.name !== 'send_sms' || command.id === last) return acceptAll(command);
      const result = { status: 'unknown', message: 'not known', at: new Date().toISOString() };
      return { type: 'result', id: command.id, ok: true, result };
    },
  });
  await until('closed', async () => (await history('?limit=1'))[0]?.status === 'queued');
});
