// A signal to stop while calls are up: they may end, messages go on, nothing new begins. The real daemon on a rack.
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { Slot } from '#shared/link/slot.ts';
import { request } from '../fixtures/network/json-request.ts';
import { startDaemonOnRack } from '../fixtures/nodes/daemon-on-rack.ts';
import { until } from '../fixtures/until.ts';
import { type CallView, putFarEnd } from '../hardware-sim/fixtures/call-terminal.ts';
import { post } from '../hardware-sim/fixtures/http.ts';
import type { ScriptedControlPlane } from './link/scripted-control-plane.ts';

const FAR = '+13105550188';
const ID = 'call-00000001';
const NOWHERE = '8901000000000000990';

/** A daemon with two modems; the first has a call that is up. */
async function withCallUp(t: Test, config: string) {
  const rig = await startDaemonOnRack(t, { rack: { modems: 2, ringIntervalMs: 500 }, config });
  const { plane, simulator } = rig;
  const slots = await until('both numbers', () => {
    const reported = plane.frames.filter((frame) => frame.type === 'hello' || frame.type === 'slots').at(-1);
    const isReady = reported?.slots.every(({ number, state }) => number !== null && state === 'registered');
    return isReady === true ? reported?.slots : undefined;
  });
  const [first, second] = slots as [Slot, Slot];
  await putFarEnd(simulator.url, FAR, { after_ms: 100 });
  t.match(await plane.command('dial', { call_id: ID, iccid: first.iccid, to: FAR }), { type: 'result' });
  await until('the call is up', () => plane.framesOf('call').some(({ call }) => call.state === 'active'));
  const exited = once(rig.daemon(), 'exit').then(([code]) => code as number | null);
  return { ...rig, first, second, exited };
}

const calls = async (url: string): Promise<CallView[]> => (await request(`${url}/calls`)).body as CallView[];

/** The daemon has taken the signal: it does not even search for the SIM any more. */
async function refusesCalls(plane: ScriptedControlPlane) {
  let tries = 0;
  return until('a refusal', async () => {
    tries += 1;
    const answer = await plane.command('dial', {
      call_id: `call-1${1_000_000 + tries}`,
      iccid: NOWHERE,
      to: FAR,
    });
    return answer.type === 'refusal' && answer.code === 'slot_unavailable' ? answer : undefined;
  });
}

t.test('a call that is up may end; new ones do not begin, messages go on, then it stops', async (t) => {
  const { daemon, exited, first, plane, second, simulator } = await withCallUp(t, '');
  daemon().kill('SIGTERM');
  t.match(await refusesCalls(plane), { message: 'The node is stopping.' });

  const { body } = await post(`${simulator.url}/calls`, { from: FAR, to: second.number, ring_ms: 1_500 });
  const { id } = body as { id: number };
  await post(`${simulator.url}/sms`, { from: FAR, to: second.number, body: 'while it drains' });
  await until('the message', () =>
    plane.factsOf('sms_received').find((fact) => fact.body === 'while it drains'),
  );
  const sent = await plane.command('send_sms', {
    iccid: first.iccid,
    to: FAR,
    body: 'and out',
    segments_max: 1,
  });
  t.match(sent, { type: 'result', result: { status: 'accepted' } });

  const missed = await until('the record of the missed call', () =>
    plane.factsOf('call_ended').find(({ direction }) => direction === 'inbound'),
  );
  t.match(missed, { answered_at: null, reason: 'cancelled' });
  t.equal((await calls(simulator.url)).find((call) => call.id === id)?.answered_at_ms, null);
  t.notOk(
    plane.framesOf('call').some(({ call }) => call.direction === 'inbound'),
    'no phone was rung',
  );
  t.equal(daemon().exitCode, null, 'the call is up, and so is the daemon');

  const up = (await calls(simulator.url)).find(({ state }) => state === 'answered');
  await request(`${simulator.url}/calls/${up?.id}`, { method: 'DELETE' });
  t.equal(await exited, 0);
  t.match(plane.factsOf('call_ended').at(-1), { call_id: ID, direction: 'outbound' });
});

t.test('a second signal ends the wait: the call is hung up, the fact is written', async (t) => {
  const { daemon, exited, plane, simulator, start } = await withCallUp(t, '');
  daemon().kill('SIGTERM');
  await refusesCalls(plane);
  // A signal within a second of the first counts as the same signal, sent by npm.
  const again = setInterval(() => daemon().kill('SIGTERM'), 1_100);
  const code = await exited;
  clearInterval(again);
  t.equal(code, 0);
  t.ok((await calls(simulator.url)).every(({ state }) => state === 'ended'));
  start();
  await until('the fact, if not before then after the start', () =>
    plane.factsOf('call_ended').find(({ call_id }) => call_id === ID),
  );
});

t.test('drain_seconds: 0 hangs up at once', async (t) => {
  const { daemon, exited, simulator } = await withCallUp(t, 'drain_seconds: 0\n');
  daemon().kill('SIGTERM');
  t.equal(await exited, 0);
  t.ok((await calls(simulator.url)).every(({ state }) => state === 'ended'));
});

t.test('a call that does not end is hung up when its time is over', async (t) => {
  const { daemon, exited, simulator } = await withCallUp(t, 'drain_seconds: 1\n');
  daemon().kill('SIGTERM');
  t.equal(await exited, 0);
  t.ok((await calls(simulator.url)).every(({ state }) => state === 'ended'));
});
