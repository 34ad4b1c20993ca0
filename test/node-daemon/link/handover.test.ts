// A control plane that is about to stop: the node opens the next link before it leaves, and loses and doubles nothing.
import t from 'tap';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { encodeFrame } from '#shared/link/frame.ts';
import { until } from '../../fixtures/until.ts';
import { createLink, startLink } from './link-rig.ts';

t.test('facts go over the new link, answers over the one that their command came by', async (t) => {
  const { plane, linked, append, setAnswer, sequences } = await startLink(t, (each) => {
    each.acknowledges = false;
  });
  await linked();
  const older = plane.socket;
  await append('before');
  await until('the fact', () => plane.facts.length === 1);
  let finish: () => void = () => undefined;
  setAnswer(async () => {
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return { ok: true, result: { x: 1 } };
  });
  const framesOfOlder: string[] = [];
  older?.on('message', (data) => framesOfOlder.push(String(data)));
  plane.send({ type: 'command', id: 'slow', name: 'bind_sim', params: {}, time_left_ms: 5_000 });
  plane.send({ type: 'drain', within_ms: 5_000 });
  await linked(2);
  await until('the second link is used', () => plane.facts.length === 2);
  t.equal(plane.closes.length, 0, 'the older link waits for its answer');
  await append('after');
  await until('the new fact', () => plane.facts.length === 3);
  t.same(sequences(), [1, 1, 2], 'unacknowledged facts are sent again over the new link, in order');
  finish();
  await until('the older link is left', () => plane.closes.length === 1);
  t.match(
    framesOfOlder.filter((text) => !text.startsWith('{"type":"slots"')),
    [/"type":"result","id":"slow"/],
    'the answer came over the older link, and no fact',
  );
  t.equal(plane.closes[0]?.code, LINK_CLOSE.left);
  t.equal(plane.socket?.readyState, 1, 'the newer one stays');
});

t.test(
  'an acknowledgement over the link that was left makes no gap in the facts of the new one',
  async (t) => {
    const { plane, linked, append, setAnswer, sequences } = await startLink(t, (each) => {
      each.acknowledges = false;
    });
    await linked();
    const older = plane.socket;
    await append('one', 'two');
    await until('both facts', () => plane.facts.length === 2);
    // A command under way keeps the older link open.
    setAnswer(() => new Promise(() => undefined));
    plane.send({ type: 'command', id: 'never', name: 'bind_sim', params: {}, time_left_ms: 5_000 });
    plane.window = 1;
    plane.send({ type: 'drain', within_ms: 5_000 });
    await until('the first fact over the new link', () => plane.facts.length === 3);
    const read = new Promise((resolve) => older?.once('pong', resolve));
    older?.send(encodeFrame({ type: 'ack', sequence: 2 }));
    older?.ping();
    await read;
    plane.acknowledges = true;
    plane.send({ type: 'ack', sequence: 1 });
    await append('three');
    await until('the last fact', () => sequences().at(-1) === 3);
    t.same(sequences(), [1, 2, 1, 2, 3]);
  },
);

t.test('without another instance the node keeps the link until it ends, then links again soon', async (t) => {
  const { plane, linked, append, longWaits } = await startLink(t);
  await linked();
  plane.refusal = 503;
  plane.refusalHeaders = { 'Retry-After': '1' };
  const older = plane.socket;
  plane.send({ type: 'drain', within_ms: 5_000 });
  await until('a refused attempt', () => plane.upgrades.length === 2);
  await append('still over the older link');
  await until('the fact', () => plane.facts.length === 1);
  plane.refusal = undefined;
  older?.close(LINK_CLOSE.goingAway, 'restart');
  await linked(2);
  t.same(
    longWaits.filter((waitMs) => waitMs < 60_000),
    [],
    'not the wait of a refused node',
  );
});

t.test('closing an older link as replaced is no refusal', async (t) => {
  const { plane, linked, append, setAnswer } = await startLink(t);
  await linked();
  const older = plane.socket;
  setAnswer(() => new Promise(() => undefined));
  plane.send({ type: 'command', id: 'never', name: 'bind_sim', params: {}, time_left_ms: 5_000 });
  plane.send({ type: 'drain', within_ms: 5_000 });
  await linked(2);
  older?.close(LINK_CLOSE.replaced);
  await until('the end of the older link', () => plane.closes.length === 1);
  await append('goes on');
  await until('the fact', () => plane.facts.length === 1);
  t.equal(plane.upgrades.length, 2);
});

t.test('a new identity ends the link of the old one, and proves the next', async (t) => {
  const { plane, linked, identity } = await startLink(t);
  await linked();
  const { current } = identity;
  if (current === undefined) throw new Error('no identity');
  identity.change({ ...current, nodeId: 'n-2' });
  await linked(2);
  t.match(plane.upgrades[1]?.headers.authorization, /id=n-2,/);
  await until('the end of the older link', () => plane.closes.length === 1);
  identity.change(undefined);
  await until('no link', () => plane.closes.length === 2);
  identity.change(current);
  await linked(3);
});

t.test('a node that is stopped by its control plane asks nothing until it is enrolled again', async (t) => {
  const { plane, linked, identity, longWaits } = await startLink(t);
  await linked();
  plane.socket?.close(LINK_CLOSE.revoked);
  await until('the long wait', () => longWaits.some((waitMs) => waitMs >= 600_000));
  t.equal(plane.upgrades.length, 1);
  const { current } = identity;
  identity.change(current);
  await linked(2);
});

t.test('a clock that is years off is corrected by the time of a refusal', async (t) => {
  const { plane, linked, setClockOffset, link } = await createLink(t, (each) => {
    each.refusal = 401;
    each.refusalHeaders = { 'X-Simrack-Time': String(Date.now()) };
  });
  setClockOffset(-20 * 365 * 86_400_000);
  link.start();
  await until('a refusal', () => plane.upgrades.length >= 1);
  plane.refusal = undefined;
  await linked();
  const time = Number(/time=(\d+)/.exec(plane.upgrades.at(-1)?.headers.authorization ?? '')?.[1]);
  t.ok(Math.abs(time - Date.now()) < 20_000, 'the second proof has the server’s time');
});
