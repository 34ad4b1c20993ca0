// The bus of several instances on a real NATS server: events and requests, and what a stranger on the server cannot do.
import { connect as connectTo, headers } from '@nats-io/transport-node';
import t from 'tap';
import { type BusEvent, NoAnswer, NoResponder } from '#control-plane/bus/bus.ts';
import type { CallRow } from '#control-plane/store/messages/calls.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { skipWithoutNats, startNats } from '../../fixtures/service/nats.ts';
import { changed, type Instance, instance, SECOND, settled } from '../../fixtures/service/nats-instance.ts';
import { until } from '../../fixtures/until.ts';

const skip = skipWithoutNats();

t.test('heard once by each instance, by its own at once', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  one.bus.publish(changed('sub_1'));
  t.same(one.heard, [changed('sub_1')]);
  await until('the other', () => other.heard.length > 0);
  other.bus.publish(changed('sub_2'));
  await until('an answer', () => one.heard.length > 1);
  t.same(
    [one.heard, other.heard],
    [
      [changed('sub_1'), changed('sub_2')],
      [changed('sub_1'), changed('sub_2')],
    ],
  );
});

t.test('a received text is reported to its own instance only', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  one.bus.publish({ kind: 'sms_received', subscriptionId: 'sub_1' });
  t.same(await settled(one, other), []);
});

t.test('an event arrives with all that it says, times included', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  const at = new Date('2026-11-21T08:00:00.123Z');
  const call: Omit<CallRow, 'state'> = {
    callId: 'call_1',
    subscriptionId: 'sub_1',
    number: '+12065550001',
    iccid: '8901000000000000001',
    nodeId: 'n',
    direction: 'inbound',
    peer: 'O\'Hara \u260e "x"',
    startedAt: at,
    answeredAt: null,
    answeredBy: null,
  };
  const events: BusEvent[] = [
    { kind: 'call_changed', instance: 'i', call: { ...call, state: 'ringing' } },
    { kind: 'call_ended', call: { ...call, endedAt: at, reason: 'cancelled', cause: 16 } },
  ];
  for (const event of events) one.bus.publish(event);
  await until('the other', () => other.heard.length === 2);
  t.same(other.heard, events);
});

t.test('a request gets the answer of the one that serves it', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  const stop = other.bus.serve('node.rack-1', async (request) => ({ got: request }));
  await until('it is served', () => one.bus.request('node.rack-1', 1, SECOND).catch(() => undefined));
  t.same(await one.bus.request('node.rack-1', { a: [1, 'b'] }, SECOND), { got: { a: [1, 'b'] } });
  t.same(await other.bus.request('node.rack-1', 'own', SECOND), { got: 'own' });
  await t.rejects(
    one.bus.request('node.rack-2', 1, SECOND),
    { name: 'NoResponder', isUndecided: false },
    'no instance serves it',
  );
  stop();
  await until('it is served no more', async () => {
    const error = await one.bus.request('node.rack-1', 1, SECOND).catch((error: unknown) => error);
    return error instanceof NoResponder;
  });
});

t.test(
  'a finding serves for a second: then whether the subject is served is asked again',
  { skip },
  async (t) => {
    const nats = await startNats(t);
    const clock = new ManualClock();
    const [one, other] = [await instance(t, nats, { clock }), await instance(t, nats, { clock })];
    const stop = other.bus.serve('node.rack-1', async (request) => request);
    await settled(other, one);
    const witness = await connectTo({ servers: nats.url.replace('nats://', '') });
    t.teardown(() => witness.close());
    let asked = 0;
    witness.subscribe('p.node.rack-1', {
      callback: () => {
        asked += 1;
      },
    });
    await witness.flush();
    const finding = one.bus.find('node.rack-1');
    await finding.served;
    t.equal(await one.bus.request('node.rack-1', 'soon', { ...SECOND, finding }), 'soon');
    await until('one question, one request', () => asked === 2);
    clock.advance(1_000);
    t.equal(await one.bus.request('node.rack-1', 'late', { ...SECOND, finding }), 'late');
    await until('another question', () => asked === 4);
    // For NATS it is a responder, too.
    await witness.close();
    stop();
    await settled(other, one);
    const lost = one.bus.find('node.rack-1');
    await t.rejects(one.bus.request('node.rack-1', 1, { ...SECOND, finding: lost }), {
      name: 'NoResponder',
      isUndecided: false,
    });
  },
);

t.test('of several that serve a subject, one gets each request', { skip }, async (t) => {
  const nats = await startNats(t);
  const three = [await instance(t, nats), await instance(t, nats), await instance(t, nats)];
  let served = 0;
  for (const { bus } of three)
    bus.serve('operations', async () => {
      served += 1;
      return served;
    });
  const [{ bus }, other] = three as [Instance, Instance, Instance];
  await settled({ bus }, other);
  for (let index = 0; index < 20; index += 1) await bus.request('operations', index, SECOND);
  t.equal(served, 20);
});

t.test(
  'an answer that fails, never comes, or comes from one that dies: it may have been done',
  { skip },
  async (t) => {
    const nats = await startNats(t);
    const [one, other] = [await instance(t, nats), await instance(t, nats)];
    other.bus.serve('fails', () => Promise.reject(new Error('secret text')));
    let asked = 0;
    other.bus.serve('hangs', () => {
      asked += 1;
      return new Promise(() => undefined);
    });
    await settled(other, one);
    await t.rejects(one.bus.request('fails', 1, SECOND), { name: 'NoAnswer', message: /see its log/ });
    await t.rejects(one.bus.request('hangs', 1, SECOND), NoAnswer);
    const waiting = one.bus.request('hangs', 1, SECOND);
    await until('it has the second one', () => asked === 2);
    await other.bus.stop();
    await t.rejects(waiting, NoAnswer);
  },
);

t.test('wrong credentials end the start; right ones pass', { skip }, async (t) => {
  const nats = await startNats(t, ['--user', 'simrack', '--pass', 'p@ss:word']);
  await t.rejects(instance(t, nats), /NATS refuses this service/);
  const url = nats.url.replace('//', `//simrack:${encodeURIComponent('p@ss:word')}@`);
  t.ok((await instance(t, { url })).bus.isConnected);
});

t.test('another service on the same server: neither is heard by the other', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, stranger] = [await instance(t, nats), await instance(t, nats, { prefix: 'q' })];
  stranger.bus.publish(changed('sub_1'));
  stranger.bus.serve('node.rack-1', async () => 'stolen');
  // NATS has its event and its subscription.
  await until('served', () => stranger.bus.request('node.rack-1', 1, SECOND).catch(() => undefined));
  await t.rejects(one.bus.request('node.rack-1', 1, SECOND), NoResponder);
  t.same(one.heard, []);
});

t.test("a stranger's claim that no instance serves a node is not believed", { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  const served: unknown[] = [];
  other.bus.serve('node.rack-1', async (request) => served.push(request));
  await settled(other, one);
  const stranger = await connectTo({ servers: nats.url.replace('nats://', '') });
  t.teardown(() => stranger.close());
  const lie = { headers: headers(503, 'No Responders') };
  stranger.subscribe('p.node.rack-1', {
    callback: (_error, message) => void message.respond(new Uint8Array(), lie),
  });
  await stranger.flush();
  const outcomes = [];
  for (let text = 1; text <= 20; text += 1)
    outcomes.push(await one.bus.request('node.rack-1', text, SECOND).catch((error: Error) => error));
  const notSent = outcomes.flatMap((outcome, index) => (outcome instanceof NoResponder ? [index + 1] : []));
  await settled(other, one);
  t.same(
    served.filter((text) => notSent.includes(Number(text))),
    [],
    'a text that counts as not sent does not go out',
  );
});

t.test('a stranger on the server without the secret is not believed', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, liar] = [await instance(t, nats), await instance(t, nats, { secret: 'another' })];
  liar.bus.publish(changed('sub_1'));
  let asked = 0;
  one.bus.serve('node.rack-1', async () => {
    asked += 1;
  });
  // The server knows that it is served now.
  await one.bus.request('node.rack-1', 1, SECOND);
  asked = 0;
  await t.rejects(liar.bus.request('node.rack-1', 1, { timeoutMs: 300 }), NoResponder);
  liar.bus.serve('node.rack-2', async () => 'lie');
  await liar.bus.request('node.rack-2', 1, SECOND);
  await t.rejects(
    one.bus.request('node.rack-2', 1, SECOND),
    { name: 'NoResponder', isUndecided: true },
    'it was not sent, and an instance may serve it all the same',
  );
  const raw = await connectTo({ servers: nats.url.replace('nats://', '') });
  t.teardown(() => raw.close());
  for (const bytes of ['', 'x', 'x'.repeat(40), JSON.stringify({ sender: 'x', event: changed('sub_2') })])
    for (const subject of ['p.events', 'p.node.rack-1']) raw.publish(subject, bytes);
  await raw.flush();
  await one.bus.request('node.rack-1', 1, SECOND);
  t.same([one.heard, asked], [[], 1]);
});

t.test('a message that was recorded on the server is not accepted again', { skip }, async (t) => {
  const nats = await startNats(t);
  const [one, other] = [await instance(t, nats), await instance(t, nats)];
  const raw = await connectTo({ servers: nats.url.replace('nats://', '') });
  t.teardown(() => raw.close());
  const seen: Array<{ subject: string; data: Uint8Array }> = [];
  raw.subscribe('>', { callback: (_error, { subject, data }) => void seen.push({ subject, data }) });
  await raw.flush();
  let asked = 0;
  other.bus.serve('node.rack-1', async () => {
    asked += 1;
    return asked;
  });
  await until('served', () => one.bus.request('node.rack-1', 'send', SECOND).catch(() => undefined));
  await raw.flush();
  // Those before it came too early: no instance has seen them, and one would accept them.
  const request = await until('heard', () => seen.findLast(({ subject }) => subject === 'p.node.rack-1'));
  // As a request to another node, and as an event.
  other.bus.serve('node.rack-2', async () => t.fail('a request for another node was believed'));
  await settled(one, other);
  await t.rejects(raw.request('p.node.rack-2', request.data, { timeout: 300 }));
  raw.publish('p.events', request.data);
  await settled(one, other);
  // And once more as what it was.
  await t.rejects(raw.request('p.node.rack-1', request.data, { timeout: 300 }));
  // All events of `settled` have come before this is answered.
  await one.bus.request('node.rack-1', 'send', SECOND);
  const before = other.heard.length;
  const event = await until('an event', () => seen.find(({ subject }) => subject === 'p.events'));
  raw.publish('p.events', event.data);
  await raw.flush();
  await one.bus.request('node.rack-1', 'send', SECOND);
  t.same([asked, other.heard.length], [3, before]);
});

t.test('a recorded message is of no use to an instance that starts later', { skip }, async (t) => {
  const nats = await startNats(t);
  const clock = new ManualClock();
  const [one, other] = [await instance(t, nats, { clock }), await instance(t, nats, { clock })];
  const raw = await connectTo({ servers: nats.url.replace('nats://', '') });
  t.teardown(() => raw.close());
  const seen: Uint8Array[] = [];
  raw.subscribe('p.events', { callback: (_error, { data }) => void seen.push(data) });
  await raw.flush();
  await settled(one, other);
  const [recorded] = await until('heard', () => (seen.length > 0 ? seen : undefined));
  clock.advance(2 * 60_000);
  const late = await instance(t, nats, { clock });
  raw.publish('p.events', recorded);
  await raw.flush();
  one.bus.publish(changed('sub_9'));
  await until('the new message', () => late.heard.length > 0);
  t.same(late.heard, [changed('sub_9')]);
});
