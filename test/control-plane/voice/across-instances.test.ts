// Calls of one number over two instances: the node is linked at one, clients come to either.
import { kill } from 'node:process';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import { inTransaction } from '#control-plane/store/database/database.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { jsonPost } from '../../fixtures/agents/json-post.ts';
import { FAR_END, telephone, telephoneClient } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { openTestDatabase } from '../../fixtures/database/test-database.ts';
import { linkNode, ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../fixtures/service/service-process.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });
const HOLD_MS = 1_000;
const LINK_LOST_MS = 40_000;
const MISSING_MS = 5_000;
/** For an event that another instance reads from the store within a second, on a loaded machine. */
const LATE_MS = 2_500;

/** Alice's telephone, whose node is linked at the first instance, and her way through the second one. */
async function twoInstances(t: Test, options: Parameters<typeof rig.start>[1] = {}) {
  const service = { streamHoldMs: HOLD_MS, heartbeatMs: 3_600_000, ...options };
  const here = await telephone(t, rig, { service });
  const { url, service: other } = await rig.start(t, { ...service, databaseUrl: here.databaseUrl });
  const there = telephoneClient(t, { url, headers: here.headers, number: here.number });
  const state = async () => (await here.calls())[0]?.['state'];
  /** Its record is a moment older. */
  const tracked = (callId: string) =>
    until('tracked where the node is', async () => (await here.dial()).body['call_id'] === callId);
  return { here, there, line: here.line, otherUrl: url, other, state, tracked };
}

type Two = Pick<Awaited<ReturnType<typeof twoInstances>>, 'there' | 'line' | 'state'>;

/** A call comes in and is answered by a stream through the second instance. */
async function answeredThere({ there, line, state }: Two) {
  const { call_id: callId } = line.ring();
  await until('recorded', async () => (await state()) === 'ringing');
  const client = await there.stream(callId);
  const media = await until('the media link', () => line.media);
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
  return { callId, client, media };
}

t.test('a stream through the other instance: answered, heard both ways, ended', async (t) => {
  const two = await twoInstances(t);
  const watcher = await two.here.presence();
  const { callId, client, media } = await answeredThere(two);
  t.match(
    two.here.node.commands('open_media')[0]?.params,
    { base_url: two.otherUrl },
    'audio goes straight there',
  );
  media.capture(Buffer.alloc(FRAME_BYTES, 7));
  await until('the far end is heard', () => client.binary.length === 1);
  client.socket.send(Buffer.alloc(FRAME_BYTES, 9));
  await until('the client is heard', () => media.frames.length === 1);
  t.same(media.heard, Buffer.alloc(FRAME_BYTES, 9));
  t.match(await two.there.hangUp(callId), { status: 200, body: { status: 'hangup_sent' } });
  t.equal(await client.closed(), 1000);
  await until('all events', () => watcher.texts.length === 3);
  t.same(
    watcher.texts.map(({ kind }) => kind),
    ['ringing', 'answered', 'ended'],
  );
  // The instance of the stream adds it after the end.
  await until('its audio is in the record', async () => (await two.there.calls())[0]?.['audio']);
  t.match(await two.there.calls(), [{ state: 'ended', audio: { overflow_frames: 0 } }]);
});

t.test('a call dialed through the other instance', async (t) => {
  const two = await twoInstances(t);
  const [watcher, beside] = [await two.here.presence(), await two.there.presence()];
  const dialed = await two.there.dial();
  t.match(dialed, { status: 200, body: { direction: 'outbound', caller: FAR_END } });
  const callId = String(dialed.body['call_id']);
  await until('recorded', async () => (await two.state()) === 'ringing');
  await two.tracked(callId);
  const busy = { error: 'line_busy', message: /already has a call/, call_id: callId };
  for (const phone of [two.here, two.there]) t.match(await phone.dial(), { status: 409, body: busy });
  const client = await two.here.stream(callId);
  two.line.answer(callId);
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
  client.socket.close(1000);
  await until('hung up', () => two.here.node.commands('hang_up').length === 1);
  await until('both hear of it', () =>
    [watcher, beside].every(({ texts }) => texts.at(-1)?.['kind'] === 'ended'),
  );
});

t.test('a stream that is opened before its instance has read whose call the node reports', async (t) => {
  const { here, there, line } = await twoInstances(t);
  const db = await openTestDatabase(t, here.databaseUrl);
  line.opensMedia = false;
  const { callId, client } = await inTransaction(db, async (trx) => {
    await sql`lock table sim_tenures in access exclusive mode`.execute(trx);
    const callId = String((await there.dial()).body['call_id']);
    const client = await here.stream(callId);
    await until('it has no audio yet', () => here.node.commands('open_media').length === 1);
    return { callId, client };
  });
  await until('read', async () => (await here.calls())[0]?.['state'] === 'ringing');
  line.opensMedia = true;
  line.answer(callId);
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
  await until('the media link', () => line.media);
  t.match(await here.hangUp(callId), { status: 200 });
  t.equal(await client.closed(), 1000);
  await until('its audio is in the record', async () => (await here.calls())[0]?.['audio']);
});

t.test(
  'a refusal of the node, and a far end that is busy, are answered as by its own instance',
  async (t) => {
    const two = await twoInstances(t);
    two.line.dialled = () => ({ status: 'ended', reason: 'busy', cause: 17 });
    t.match(await two.there.dial(), { status: 502, body: { reason: 'busy', cause: 17 } });
    two.line.dialled = ({ id }) => ({
      type: 'refusal',
      id,
      code: 'destination_not_allowed',
      message: 'not there',
    });
    t.match(await two.there.dial(), { status: 400, body: { error: 'destination_not_allowed' } });
    await two.here.node.drop();
    await until('offline here', async () => (await two.here.dial()).body['reason'] === 'node_offline');
    t.match(await two.there.dial(), { status: 502, body: { reason: 'node_offline' } });
    t.match(await two.there.hangUp('call_none'), { status: 404, body: { error: 'call_not_found' } });
  },
);

t.test('a newer stream takes over, from instance to instance', async (t) => {
  const two = await twoInstances(t);
  const { callId, client } = await answeredThere(two);
  const second = await two.here.stream(callId);
  t.equal(await client.closed(), 4409);
  await until('its media link', () => two.line.medias.length === 2);
  const third = await two.there.stream(callId);
  t.equal(await second.closed(), 4409);
  await until('its media link', () => two.line.medias.length === 3);
  two.line.media?.capture(Buffer.alloc(FRAME_BYTES, 3));
  await until('heard', () => third.binary.length === 1);
  t.equal(two.here.node.commands('hang_up').length, 0);
});

t.test('a client that drops may return at any instance; one that does not ends the call', async (t) => {
  const two = await twoInstances(t);
  const { callId, client } = await answeredThere(two);
  client.drop();
  const back = await two.here.stream(callId);
  await until('its media link', () => two.line.medias.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 2 * HOLD_MS));
  t.equal(two.here.node.commands('hang_up').length, 0, 'it is heard elsewhere');
  t.equal(back.closeCode, undefined);
  back.drop();
  await until('given up', () => two.here.node.commands('hang_up').length === 1);
  t.match(two.here.node.commands('hang_up')[0]?.params, { reason: 'abandoned' });
});

t.test('an instance that stops: its client goes on at the other one', async (t) => {
  const two = await twoInstances(t);
  const { callId, client } = await answeredThere(two);
  await two.other.stop();
  t.equal(await client.closed(), 1012);
  const next = await two.here.stream(callId);
  await until('its media link', () => two.line.medias.length === 2);
  two.line.media?.capture(Buffer.alloc(FRAME_BYTES, 3));
  await until('heard', () => next.binary.length === 1);
  t.equal(two.here.node.commands('hang_up').length, 0);
});

/** As `twoInstances`; the second one is a process, which can be killed. */
async function withMortal(t: Test) {
  const here = await telephone(t, rig, { service: { streamHoldMs: HOLD_MS } });
  const { databaseUrl, headers, number, line } = here;
  const process = await startServiceProcess(t, {
    databaseUrl,
    rpcUrl: rig.chain.rpcUrl,
    env: { NATS_URL: String(rig.nats?.url), STREAM_HOLD_MS: String(HOLD_MS) },
  });
  const there = telephoneClient(t, { url: process.url, headers, number });
  const state = async () => (await here.calls())[0]?.['state'];
  /** Commands to whichever node the line has. */
  const hangUps = () => line.node?.commands('hang_up') ?? [];
  const abandoned = async () => {
    // An instance that hangs is asked twice, each time after a wait: eight seconds.
    await until('hung up', () => hangUps().length === 1, 30_000);
    t.match(hangUps()[0]?.params, { reason: 'abandoned' });
  };
  return { here, there, line, process, state, hangUps, abandoned };
}

t.test('an instance is killed with the client of a call: the node’s instance hangs up', async (t) => {
  const two = await withMortal(t);
  await answeredThere(two);
  kill(two.process.pid, 'SIGKILL');
  await two.abandoned();
});

t.test('an instance is killed with the client of a call, who goes on at the other one', async (t) => {
  const two = await withMortal(t);
  const { callId, client } = await answeredThere(two);
  kill(two.process.pid, 'SIGKILL');
  await client.closed();
  const next = await two.here.stream(callId);
  await until('its media link', () => two.line.medias.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 3 * HOLD_MS));
  two.line.media?.capture(Buffer.alloc(FRAME_BYTES, 3));
  await until('heard', () => next.binary.length === 1);
  t.equal(two.hangUps().length, 0);
});

t.test('an instance freezes, and its media link breaks', async (t) => {
  const two = await withMortal(t);
  const { media } = await answeredThere(two);
  kill(two.process.pid, 'SIGSTOP');
  t.teardown(() => kill(two.process.pid, 'SIGKILL'));
  media.socket.terminate();
  await two.abandoned();
});

t.test('an instance is killed with the node’s link and the client: the next one hangs up', async (t) => {
  const two = await withMortal(t);
  const { line, here, process } = two;
  const link = async (url: string): Promise<void> => {
    const { calls, onCommand } = line;
    line.node = await ScriptedNode.connect(url, { journalId: 'journal-1', calls, onCommand });
  };
  await link(process.url);
  await until('moved', () => here.node.closeCode !== undefined);
  await answeredThere(two);
  kill(process.pid, 'SIGKILL');
  await until('the media link broke', () => line.calls[0]?.has_media === false);
  await link(here.url);
  await two.abandoned();
});

t.test('a stream that is opened while the node has no link gets its audio when it has one', async (t) => {
  const two = await twoInstances(t);
  const { here, there, line } = two;
  const { call_id: callId } = line.ring();
  await two.tracked(callId);
  await here.node.drop();
  await until('offline', async () => (await here.dial()).body['reason'] === 'node_offline');
  const client = await there.stream(callId);
  const { calls, onCommand } = line;
  line.node = await ScriptedNode.connect(here.url, { journalId: 'journal-1', calls, onCommand });
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
});

t.test('a node that moves during a call: its stream stays where it is', async (t) => {
  const clock = new ManualClock();
  const two = await twoInstances(t, { clock });
  const { callId, client } = await answeredThere(two);
  const moved = await linkNode(t, two.otherUrl, {
    journalId: 'journal-1',
    calls: two.line.calls,
    onCommand: two.line.onCommand,
  });
  two.line.node = moved;
  await until('the older link has ended', () => two.here.node.closeCode !== undefined);
  // Pings are answered between two seconds.
  for (let second = 0; second <= LINK_LOST_MS / 1_000; second += 1) {
    clock.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.match(await until('still up', async () => (await two.here.calls())[0]), {
    state: 'active',
    ended_at: null,
  });
  t.equal(client.closeCode, undefined);
  two.line.media?.capture(Buffer.alloc(FRAME_BYTES, 3));
  await until('heard', () => client.binary.length === 1);
  t.match(await two.here.hangUp(callId), { status: 200 }, 'it is the other instance that must be asked now');
  t.equal(await client.closed(), 1000);
});

t.test('a node that comes to the other instance without its call: the call is over', async (t) => {
  const clock = new ManualClock();
  const two = await twoInstances(t, { clock });
  const watchers = [await two.here.presence(), await two.there.presence()];
  const { call_id: callId } = two.line.ring();
  await until('it rings', () => watchers.every(({ texts }) => texts.length === 1));
  await two.here.node.drop();
  await until('offline', async () => (await two.here.dial()).body['reason'] === 'node_offline');
  const others = clock.dueIn(MISSING_MS);
  await linkNode(t, two.otherUrl, { journalId: 'journal-1', calls: [] });
  // Its link waits as long for a hello.
  await until('the call is missed', () => clock.dueIn(MISSING_MS) >= others + 2);
  clock.advance(MISSING_MS);
  await until('both are notified', () =>
    watchers.every((watcher) => watcher.of({ kind: 'ended', call_id: callId }).length === 1),
  );
  t.match(await two.here.calls(), [{ call_id: callId, state: 'ended', reason: 'contact_lost' }]);
});

t.test('a node that reports a call of another one cannot end it', async (t) => {
  const { log, lines } = recordedLog();
  const clock = new ManualClock();
  const { line, otherUrl, state } = await twoInstances(t, { clock, log });
  const call = line.ring();
  await until('recorded', async () => (await state()) === 'ringing');
  const liar = { nodeId: 'liar', journalId: 'journal-2', slots: [slotAt(2)] };
  const node = await linkNode(t, otherUrl, liar);
  node.send({ type: 'call', call: { ...call, iccid: String(slotAt(2).iccid) } });
  await until('refused', () => lines.some(({ message }) => /report refused: .* another node/.test(message)));
  await linkNode(t, otherUrl, liar);
  for (let passedMs = 0; passedMs < 4 * MISSING_MS; passedMs += 1_000) {
    clock.advance(1_000);
    t.equal(await state(), 'ringing');
  }
});

t.test('without the bus: an instance hangs up when the client of its stream does not return', async (t) => {
  const two = await twoInstances(t);
  const { line, here } = two;
  const { call_id: callId } = line.ring();
  await until('recorded', async () => (await two.state()) === 'ringing');
  const client = await here.stream(callId);
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
  const health = async () =>
    ((await (await fetch(`${here.url}/health/ready`)).json()) as { status: string }).status;
  await rig.nats?.kill();
  t.teardown(() => rig.nats?.start());
  await until('noticed', async () => (await health()) === 'warn');
  client.drop();
  await until('hung up', () => here.node.commands('hang_up').length === 1);
  t.match(here.node.commands('hang_up')[0]?.params, { reason: 'abandoned' });
});

t.test(
  'without the bus: calls go on, rings are late, the other instance is offline for a while',
  async (t) => {
    const two = await twoInstances(t);
    const { callId, client, media } = await answeredThere(two);
    const watcher = await two.there.presence();
    const health = async () =>
      (await (await fetch(`${two.otherUrl}/health/ready`)).json()) as { status: string; checks: object };
    t.match(await health(), { status: 'pass', checks: { instances: { status: 'pass' } } });
    await rig.nats?.kill();
    await until('noticed', async () => (await health()).status === 'warn');
    t.match(await health(), { checks: { instances: { status: 'warn', output: /NATS/ } } });
    media.capture(Buffer.alloc(FRAME_BYTES, 3));
    await until('heard', () => client.binary.length === 1);
    await until(
      'certainly not sent',
      async () => (await two.there.hangUp(callId)).body['error'] === 'phone_node_error',
    );
    const send = async (url: string) =>
      (await fetch(`${url}/sms/send`, jsonPost({ to: FAR_END, body: 'hello' }, two.here.headers))).status;
    t.equal(await send(two.here.url), 200, 'a text goes out where the link is');
    t.equal(await send(two.otherUrl), 502, 'and elsewhere certainly not');
    t.equal(two.here.node.commands('send_sms').length, 1);
    t.match(await two.here.hangUp(callId), { status: 200 });
    await until(
      'the end is read from the store',
      () => watcher.of({ kind: 'ended', call_id: callId }).length === 1,
    );
    // The store was read just now: the next ring waits for as long as any does.
    const rangAt = performance.now();
    const { call_id: next } = two.line.ring();
    await until('the ring, too', () => watcher.of({ kind: 'ringing', call_id: next }).length === 1);
    t.ok(performance.now() - rangAt < LATE_MS, 'about a second late');
    t.match(await two.there.hangUp(next), { body: { error: 'phone_node_error' } }, 'the request stands');
    await rig.nats?.start();
    await until('texts go out from both', async () => (await send(two.otherUrl)) === 200);
    t.equal(two.here.node.commands('send_sms').length, 2);
    await until('ended', () => watcher.of({ kind: 'ended', call_id: next }).length === 1);
  },
);
