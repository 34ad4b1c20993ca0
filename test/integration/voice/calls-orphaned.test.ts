// Calls without an owner end at the carrier, after any end of the daemon or its control plane.
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { request } from '../../fixtures/network/json-request.ts';
import { startDaemonOnRack } from '../../fixtures/nodes/daemon-on-rack.ts';
import { until } from '../../fixtures/until.ts';
import { type CallView, putFarEnd } from '../../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../../hardware-sim/fixtures/http.ts';

const FAR = '+13105550188';

async function setUp(t: Test) {
  const rack = await startDaemonOnRack(t, {
    rack: { modems: 2, ringIntervalMs: 500 },
    config: 'drain_seconds: 0\n',
  });
  const { plane, simulator } = rack;
  await putFarEnd(simulator.url, FAR, { audio: 'tone' });
  const [caller, called] = simulator.modems.map(({ identity }) => identity);
  if (caller === undefined || called === undefined) throw new Error('two modems');
  let dialled = 0;
  const calls = async (state: string) =>
    ((await request(`${simulator.url}/calls`)).body as CallView[]).filter((call) => call.state === state);
  const dial = async (): Promise<void> => {
    const params = { call_id: `call-outbound-${++dialled}`, iccid: caller.iccid, to: FAR };
    t.match(await plane.command('dial', params), { type: 'result' });
  };
  /** The dialed call and the one that rings, in the frames from this one on. */
  const areReported = async (first = 0): Promise<void> => {
    await until('both are reported', () => {
      const frames = plane.frames.slice(first).filter((frame) => frame.type === 'call');
      const reported = frames.map(({ call }) => `${call.direction} ${call.state}`);
      return reported.includes('outbound active') && reported.includes('inbound ringing');
    });
    t.equal((await calls('answered')).length, 1);
  };
  return {
    ...rack,
    areReported,
    calls,
    dial,
    /** One call that was dialed and is answered, and one that rings here. */
    async callBothWays() {
      await dial();
      await post(`${simulator.url}/calls`, { from: FAR, to: called.number });
      await areReported();
    },
    isQuiet: (timeoutMs: number) =>
      until(
        'the carrier has no call that bills',
        async () => (await calls('answered')).length === 0,
        timeoutMs,
      ),
  };
}

t.test('the daemon is killed: the next one ends what it finds, and dials again', async (t) => {
  const { areReported, callBothWays, calls, dial, isQuiet, kill, plane, start } = await setUp(t);
  await callBothWays();
  await kill();
  t.equal((await calls('answered')).length, 1, 'the modem keeps it up');
  await until('the end of its link', () => plane.closes.length > 0);
  const before = plane.frames.length;
  start();
  await isQuiet(30_000);
  const early = plane.frames.slice(before).filter((frame) => frame.type === 'slots');
  t.notOk(
    early.some(({ slots }) => slots.some(({ state }) => state === 'registered')),
    'before the modems are set up',
  );
  const reported = () => plane.frames.slice(before);
  const hello = await until('a hello', () => reported().find((frame) => frame.type === 'hello'), 30_000);
  t.same(hello.calls, [], 'it knows of no call');
  await until(
    'both serve again',
    () => {
      const slots = reported().findLast((frame) => frame.type === 'slots')?.slots ?? [];
      return slots.length === 2 && slots.every(({ state }) => state === 'registered');
    },
    60_000,
  );
  await dial();
  // The other one still rings: its caller waits.
  await areReported(before);
});

t.test('the daemon is stopped, and has no time for its calls: it ends them, and reports each', async (t) => {
  const { callBothWays, daemon, isQuiet, plane, start } = await setUp(t);
  await callBothWays();
  const exited = once(daemon(), 'exit');
  daemon().kill('SIGTERM');
  await isQuiet(10_000);
  await exited;
  // Facts that the link did not carry any more are in the journal.
  start();
  const reported = () => plane.factsOf('call_ended').find(({ call_id }) => call_id === 'call-outbound-1');
  t.match(await until('its end', reported, 30_000), { direction: 'outbound', reason: 'abandoned' });
});

t.test('the control plane is away for longer than the limit: the calls have no owner', async (t) => {
  const { callBothWays, isQuiet, plane } = await setUp(t);
  await callBothWays();
  plane.refuse(503);
  plane.socket?.terminate();
  await isQuiet(60_000);
  plane.refusal = undefined;
  // The caller of the other one may have given up by then.
  const end = await until(
    'its end',
    () => plane.factsOf('call_ended').find(({ direction }) => direction === 'outbound'),
    60_000,
  );
  t.equal(end.reason, 'abandoned');
});
