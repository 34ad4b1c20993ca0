// The link against a scripted control plane: facts until acknowledged, commands, heartbeat, reconnection.
import t from 'tap';
import { LOAD_REPORT_MS, linkUrl } from '#node-daemon/link/control-link.ts';
import { LINK_CLOSE } from '#shared/link/close.ts';
import { readProof } from '#shared/link/proof.ts';
import { LINK_FRAME_BYTES_MAX, LINK_VERSION, LINK_VERSION_MIN } from '#shared/link/version.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { until } from '../../fixtures/until.ts';
import { createLink, receivedFact, SLOT, startLink as setUp } from './link-rig.ts';
import { ScriptedControlPlane } from './scripted-control-plane.ts';

t.test('the upgrade carries a proof, the hello what the node has', async (t) => {
  const { plane, journal, linked } = await setUp(t);
  await linked();
  const proof = readProof(plane.upgrades[0]?.headers.authorization);
  t.match(proof, { nodeId: 'n-1', timeMs: Number, random: String, signature: String });
  t.notOk(plane.upgrades[0]?.headers['sec-websocket-extensions'], 'no compression');
  t.match(plane.framesOf('hello'), [
    {
      version_min: LINK_VERSION_MIN,
      version_max: LINK_VERSION,
      journal_id: journal.state.journalId,
      oldest_sequence: 0,
      slots: [SLOT],
      alarms: [],
      calls: [],
    },
  ]);
});

t.test('facts go out at once, in order, and are forgotten when they are acknowledged', async (t) => {
  const { plane, journal, append, sequences, linked } = await setUp(t);
  await linked();
  await append('a', 'b');
  await append('c');
  await until('three facts', () => plane.facts.length === 3);
  t.same(sequences(), [1, 2, 3]);
  await until('their acknowledgement', () => journal.state.facts.size === 0);
});

t.test('facts that were not acknowledged are sent again over the next link', async (t) => {
  const { plane, append, journal, sequences, linked } = await setUp(t, (each) => {
    each.acknowledges = false;
  });
  await linked();
  await append('a', 'b', 'c');
  await until('three facts', () => plane.facts.length === 3);
  plane.send({ type: 'ack', sequence: 1 });
  await until('one acknowledgement', () => journal.state.facts.size === 2);
  plane.acknowledged = 1;
  plane.socket?.terminate();
  await until('two again', () => plane.facts.length === 5);
  t.same(sequences(), [1, 2, 3, 2, 3]);
  t.match(plane.framesOf('hello')[1], { oldest_sequence: 2 });
});

t.test('facts that the control plane already has are not sent again', async (t) => {
  const { plane, sequences } = await setUp(t, async (each, journal) => {
    each.acknowledged = 2;
    for (const body of ['a', 'b', 'c']) await journal.append({ kind: 'fact', fact: receivedFact(body) });
  });
  await until('a fact', () => plane.facts.length > 0);
  t.same(sequences(), [3]);
});

t.test('no more facts are under way than the window allows', async (t) => {
  const { plane, append, sequences, linked } = await setUp(t, (each) => {
    each.acknowledges = false;
    each.window = 2;
  });
  await linked();
  await append('a', 'b', 'c', 'd', 'e');
  await until('two facts', () => plane.facts.length === 2);
  // A third would have come with them: they are written in one go.
  plane.send({ type: 'ack', sequence: 1 });
  await until('a third', () => plane.facts.length >= 3);
  t.same(sequences(), [1, 2, 3]);
});

t.test('a journal that knows less than the control plane takes a new identity', async (t) => {
  const { plane, journal, append, linked } = await setUp(t, (each) => {
    each.acknowledged = 50;
  });
  const before = journal.state.journalId;
  await linked();
  plane.acknowledged = 0;
  await linked(2);
  t.not(plane.framesOf('hello')[1]?.journal_id, before);
  await append('a');
  await until('the fact', () => plane.facts.length === 1);
});

t.test('facts made before the first welcome are not taken for those of a newer copy', async (t) => {
  const { plane, append, link, sequences } = await createLink(t, (each) => {
    each.acknowledged = 2;
  });
  await append('a', 'b', 'c');
  link.start();
  await until('the welcome', () => plane.framesOf('hello').length === 1);
  plane.acknowledged = 0;
  await until('all three', () => plane.facts.length === 3);
  t.same(sequences(), [1, 2, 3], 'under a new identity');
  const [first, second] = plane.framesOf('hello');
  t.not(first?.journal_id, second?.journal_id);
});

t.test('commands are answered with result or refusal, also out of order', async (t) => {
  const { plane, commands, linked, setAnswer } = await setUp(t);
  await linked();
  let finish: () => void = () => undefined;
  setAnswer(async ({ id }) => {
    if (id === 'slow') await new Promise<void>((resolve) => (finish = resolve));
    return id === 'slow' ? { ok: true, result: { x: 1 } } : { ok: false, code: 'slot_busy', message: 'no' };
  });
  const slow = plane.command('send_sms', { a: 1 }, { id: 'slow', timeLeftMs: 5 });
  t.same(await plane.command('send_sms', {}, { id: 'quick' }), {
    type: 'refusal',
    id: 'quick',
    code: 'slot_busy',
    message: 'no',
  });
  finish();
  t.same(await slow, { type: 'result', id: 'slow', ok: true, result: { x: 1 } });
  t.same(commands[0], { id: 'slow', name: 'send_sms', params: { a: 1 }, timeLeftMs: 5 });
});

t.test('changes of slots are sent together', async (t) => {
  const { plane, link, slots, linked } = await setUp(t);
  await linked();
  await until('the first', () => plane.framesOf('slots').length === 1);
  for (const signal_dbm of [-90, -80, -70]) {
    slots[0] = { ...SLOT, signal_dbm };
    link.slotsChanged();
  }
  await until('the change', () => plane.framesOf('slots').length === 2);
  t.equal(plane.framesOf('slots')[1]?.slots[0]?.signal_dbm, -70);
});

t.test('values that change with each message are sent from time to time', async (t) => {
  const clock = new ManualClock();
  const { plane, append, link, slots, linked } = await setUp(
    t,
    (each) => {
      each.acknowledges = false;
    },
    clock,
  );
  await linked();
  const reported = () => plane.framesOf('slots');
  await until('the first', () => {
    clock.advance(20);
    return reported().length === 1;
  });
  /** All that was sent before has arrived. */
  const settled = async (): Promise<void> => {
    const events = plane.framesOf('event').length;
    link.sendEvent({ slot: 'm0', kind: 'here', detail: '', at: '2026-11-21T08:00:00.000Z' });
    await until('the event', () => plane.framesOf('event').length > events);
  };
  await append('a', 'b', 'c');
  slots[0] = { ...SLOT, storage: { used: 19, total: 20 } };
  clock.advance(LOAD_REPORT_MS / 2);
  await settled();
  t.equal(reported().length, 1, 'not at once');
  clock.advance(LOAD_REPORT_MS / 2);
  await settled();
  t.match(reported().slice(1), [{ journal_depth: 3, slots: [{ storage: { used: 19, total: 20 } }] }]);
  clock.advance(3 * LOAD_REPORT_MS);
  await settled();
  t.equal(reported().length, 2, 'and not again while nothing changes');
});

t.test('the node links again to a control plane that was away', async (t) => {
  const { plane, append, linked } = await setUp(t);
  await linked();
  const { port } = plane;
  await plane.stop();
  await append('while away');
  const next = await ScriptedControlPlane.start(port);
  t.teardown(() => next.stop());
  await until('the fact', () => next.facts.length === 1, 15_000);
  t.match(next.facts[0], { sequence: 1 });
});

t.test('a link without heartbeat is closed', async (t) => {
  const { plane, linked } = await setUp(t, (each) => {
    each.heartbeatMs = 50;
    each.pings = false;
  });
  await linked(2);
  t.equal(plane.closes[0]?.code, 1006);
});

t.test('a link with heartbeat stays', async (t) => {
  const clock = new ManualClock();
  const { plane, append, linked } = await setUp(
    t,
    (each) => {
      each.heartbeatMs = 600;
      each.pings = false;
    },
    clock,
  );
  await linked();
  // The node's patience is two heartbeats, by its clock.
  for (let beat = 0; beat < 4; beat += 1) {
    const answered = new Promise((resolve) => plane.socket?.once('pong', resolve));
    plane.socket?.ping();
    await answered;
    clock.advance(1_000);
  }
  await append('still here');
  await until('the fact', () => plane.facts.length === 1);
  t.equal(plane.framesOf('hello').length, 1);
});

t.test('an invalid frame ends the link with a protocol error', async (t) => {
  for (const bad of ['{', '{"type":"nonsense"}', Buffer.from([1, 2, 3])]) {
    const { plane, linked } = await setUp(t);
    await linked();
    plane.socket?.send(bad);
    await until('the close', () => plane.closes.length > 0);
    t.equal(plane.closes[0]?.code, LINK_CLOSE.protocolError);
    await linked(2);
  }
});

t.test('a frame that is too long ends the link', async (t) => {
  const { plane, linked } = await setUp(t);
  await linked();
  plane.socket?.send(`{"type":"ack","sequence":1,"x":"${'x'.repeat(LINK_FRAME_BYTES_MAX)}"}`);
  await linked(2);
});

t.test(
  'a refused node tries again after 30 s if an operator may fix it, else after 10 minutes',
  async (t) => {
    const refusals: [atLeastMs: number, refuse: (plane: ScriptedControlPlane) => void][] = [
      [600_000, (plane) => plane.refuse(401)],
      [600_000, (plane) => plane.refuse(403)],
      [30_000, (plane) => plane.refuse(404)],
      ...(
        [
          [600_000, LINK_CLOSE.unauthorized],
          [600_000, LINK_CLOSE.revoked],
          [30_000, LINK_CLOSE.replaced],
          [30_000, LINK_CLOSE.versionUnsupported],
        ] as const
      ).map(([atLeastMs, code]): [number, (plane: ScriptedControlPlane) => void] => [
        atLeastMs,
        (plane) => {
          plane.welcome = () => void plane.socket?.close(code) as undefined;
        },
      ]),
      [
        30_000,
        (plane) => {
          plane.welcome = () => ({
            type: 'welcome',
            version: LINK_VERSION + 1,
            heartbeat_ms: 60_000,
            window: 1,
            acknowledged: 0,
          });
        },
      ],
    ];
    for (const [atLeastMs, refuse] of refusals) {
      const { plane, longWaits } = await setUp(t, refuse);
      await until('the wait', () =>
        longWaits.some((waitMs) => waitMs >= atLeastMs && waitMs <= atLeastMs * 1.25),
      );
      t.equal(plane.upgrades.length, plane.refusal === 401 ? 4 : 1, 'a 401 with three fresh proofs more');
    }
  },
);

t.test('the URL of the link is below that of the control plane', async (t) => {
  t.equal(linkUrl('http://localhost:8080'), 'ws://localhost:8080/nodes/link');
  t.equal(linkUrl('https://example.com/base/'), 'wss://example.com/base/nodes/link');
});
