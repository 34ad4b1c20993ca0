// Every event in every state of a line, and all sequences of them: a call ends once, and none comes back.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import t from 'tap';
import type { CallEvent, ListedCall, ListedState } from '#node-daemon/profiles/call-event.ts';
import { type LineCall, nextCall, nextCallOfList, type Step } from '#node-daemon/voice/state/line-state.ts';

const PEER = '+13105550188';
const OTHER = '+12065550100';

const outbound = (state: LineCall['state']): LineCall => ({ direction: 'outbound', state, peer: PEER });
const inbound = (state: LineCall['state'], peer?: string | null): LineCall => ({
  direction: 'inbound',
  state,
  peer,
});
const STATES: (LineCall | undefined)[] = [
  undefined,
  outbound('dialing'),
  outbound('ringing'),
  outbound('active'),
  inbound('ringing'),
  inbound('ringing', null),
  inbound('ringing', PEER),
  inbound('active'),
  inbound('active', null),
  inbound('active', PEER),
];

const LISTED: ListedState[] = ['active', 'held', 'dialing', 'alerting', 'incoming', 'waiting'];
const listedCalls: ListedCall[] = (['inbound', 'outbound'] as const).flatMap((direction) =>
  LISTED.flatMap((state) =>
    [PEER, OTHER, null].map((number) => ({ index: number === OTHER ? 2 : 1, direction, state, number })),
  ),
);
const EVENTS: CallEvent[] = [
  { kind: 'rings' },
  ...[PEER, OTHER, null].map((number) => ({ kind: 'caller', number }) as const),
  { kind: 'alerting' } as const,
  { kind: 'answered' } as const,
  { kind: 'released' } as const,
  { kind: 'released', cause: 17 } as const,
  { kind: 'digit', digit: '5' } as const,
  { kind: 'audioFlow', isPaused: true },
  ...listedCalls.map((call) => ({ kind: 'listed', call }) as const),
];

const callOf = (step: Step): LineCall | undefined => ('call' in step ? step.call : undefined);
const isEnd = (step: Step): boolean => 'ended' in step;
const RANK = { dialing: 0, ringing: 1, active: 2 };

/** The rules that hold for every step. */
function check(call: LineCall | undefined, step: Step, what: string): void {
  const next = callOf(step);
  if (call === undefined) {
    assert(!isEnd(step), `${what}: what is not up does not end`);
    // Only an incoming call begins a call.
    assert(next === undefined || (next.direction === 'inbound' && next.state === 'ringing'), what);
    return;
  }
  if (isEnd(step)) return;
  assert(next !== undefined, `${what}: no call goes without an end`);
  assert.equal(next.direction, call.direction, `${what}: another call does not take its place`);
  assert(RANK[next.state] >= RANK[call.state], `${what}: no return from ${call.state} to ${next.state}`);
  if (typeof call.peer === 'string') assert.equal(next.peer, call.peer, `${what}: the peer stays`);
  if (next.state === call.state && next.peer === call.peer)
    assert.equal(next, call, `${what}: a report of nothing new changes nothing`);
}

t.test('every event in every state', async (t) => {
  for (const call of STATES)
    for (const event of EVENTS) {
      const what = `${JSON.stringify(call)} and ${JSON.stringify(event)}`;
      const step = nextCall(call, event);
      check(call, step, what);
      t.equal(isEnd(step), call !== undefined && event.kind === 'released', what);
    }
  t.same(nextCall(outbound('dialing'), { kind: 'released', cause: 17 }), { ended: true, cause: 17 });
});

t.test('every list of up to two calls in every state', async () => {
  const lists: ListedCall[][] = [
    [],
    ...listedCalls.map((call) => [call]),
    ...listedCalls.flatMap((one) => listedCalls.map((other) => [one, other])),
  ];
  for (const call of STATES)
    for (const list of lists) {
      const what = `${JSON.stringify(call)} and ${JSON.stringify(list)}`;
      const step = nextCallOfList(call, list);
      check(call, step, what);
      // A party that waits, rings while ours is active, or rings with another number, is a second caller.
      const isOther = (number: string | null): boolean =>
        call?.direction === 'inbound' && number !== null && number !== (call.peer ?? number);
      const isListed = list.some(
        ({ direction, number, state }) =>
          direction === call?.direction &&
          state !== 'waiting' &&
          (state !== 'incoming' || (call.state !== 'active' && !isOther(number))),
      );
      assert.equal(isEnd(step), call !== undefined && !isListed, `${what}: the list has the last word`);
    }
});

t.test('the events that begin a call, and late events of an ended one', async (t) => {
  t.same(nextCall(undefined, { kind: 'rings' }), { call: inbound('ringing') });
  t.same(nextCall(undefined, { kind: 'caller', number: PEER }), { call: inbound('ringing', PEER) });
  for (const event of EVENTS) {
    const begins =
      event.kind === 'rings' ||
      event.kind === 'caller' ||
      (event.kind === 'listed' && event.call.state === 'incoming');
    t.equal(callOf(nextCall(undefined, event)) !== undefined, begins, JSON.stringify(event));
  }
});

t.test('from the dialling to the conversation', async (t) => {
  const listed = (state: ListedState): CallEvent => ({
    kind: 'listed',
    call: { index: 1, direction: 'outbound', state, number: PEER },
  });
  const cases: [LineCall, CallEvent, LineCall['state']][] = [
    [outbound('dialing'), { kind: 'alerting' }, 'ringing'],
    [outbound('dialing'), { kind: 'answered' }, 'active'],
    [outbound('ringing'), { kind: 'answered' }, 'active'],
    [outbound('dialing'), listed('dialing'), 'dialing'],
    [outbound('dialing'), listed('alerting'), 'ringing'],
    [outbound('dialing'), listed('active'), 'active'],
    [outbound('ringing'), listed('active'), 'active'],
    [outbound('active'), listed('alerting'), 'active'],
    [outbound('active'), listed('held'), 'active'],
    [inbound('ringing', PEER), { kind: 'answered' }, 'active'],
    [inbound('ringing', PEER), { kind: 'alerting' }, 'ringing'],
  ];
  for (const [call, event, state] of cases)
    t.equal(callOf(nextCall(call, event))?.state, state, `${call.state}, ${JSON.stringify(event)}`);
});

t.test('a caller who hides is null, one not reported yet is undefined', async (t) => {
  const listed = (number: string | null): CallEvent => ({
    kind: 'listed',
    call: { index: 1, direction: 'inbound', state: 'incoming', number },
  });
  const after = (...events: CallEvent[]): LineCall | undefined =>
    events.reduce<LineCall | undefined>((call, event) => callOf(nextCall(call, event)), undefined);
  const [ring, hidden] = [{ kind: 'rings' } as const, { kind: 'caller', number: null } as const];
  t.equal(after(ring)?.peer, undefined);
  t.equal(after(ring, hidden)?.peer, null);
  t.equal(after(hidden)?.peer, null);
  t.equal(after(ring, hidden, ring, hidden, listed(null))?.peer, null);
  t.equal(after(ring, listed(null))?.peer, undefined, 'a list without a number says nothing');
  t.equal(after(listed(null))?.peer, undefined);
  t.equal(after(ring, listed(null), { kind: 'caller', number: PEER })?.peer, PEER, 'with the second ring');
  t.equal(after(ring, hidden, listed(PEER))?.peer, PEER, 'the list knows better');
  t.equal(after(ring, listed(PEER), hidden)?.peer, PEER);
});

t.test(
  'any sequence: begins and ends take turns, and the first caller is the one that is reported',
  async (t) => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 40 }), (events) => {
        let call: LineCall | undefined;
        for (const event of events) {
          const step = nextCall(call, event);
          check(call, step, JSON.stringify(events));
          call = callOf(step);
        }
      }),
      { numRuns: 3_000 },
    );
    t.pass();
  },
);
