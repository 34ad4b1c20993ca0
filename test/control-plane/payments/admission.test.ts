// The queue of payments before their checks: how many are checked at a time, in which order, and how long one waits.
import t from 'tap';
import { paymentAdmission } from '#control-plane/payments/admission.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

const AT_ONCE = 4;
const WAITING_MAX = 256;

/** Work that ends on request. `begun`: its number, in the order in which work began. */
function setUp() {
  const clock = new ManualClock();
  const admission = paymentAdmission(clock);
  const begun: number[] = [];
  const ends: Array<() => void> = [];
  const run = (number: number, ...names: string[]): Promise<number> =>
    admission.run(names.length === 0 ? ['one'] : names, async () => {
      begun.push(number);
      await new Promise<void>((resolve) => {
        ends[number] = resolve;
      });
      return number;
    });
  return { admission, clock, begun, ends, run };
}

/** All that can happen without an event has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('some are checked at a time, and the others in the order in which they came', async (t) => {
  const { begun, ends, run } = setUp();
  const results = Array.from({ length: 7 }, (_, number) => run(number));
  await settled();
  t.same(begun, [0, 1, 2, 3]);
  ends[2]?.();
  await settled();
  t.same(begun, [0, 1, 2, 3, 4]);
  for (const number of [0, 1, 3, 4]) ends[number]?.();
  await settled();
  t.same(begun, [0, 1, 2, 3, 4, 5, 6]);
  for (const number of [5, 6]) ends[number]?.();
  t.same(await Promise.all(results), [0, 1, 2, 3, 4, 5, 6]);
});

t.test('one that is refused leaves its place to the next', async (t) => {
  const { admission, begun, run } = setUp();
  const refusals = Array.from({ length: AT_ONCE }, () =>
    admission.run(['one'], () => Promise.reject(new Error('no payment'))),
  );
  void run(9);
  for (const refusal of refusals) await t.rejects(refusal, { message: 'no payment' });
  await settled();
  t.same(begun, [9]);
});

t.test('one that waits for too long is refused, and takes no place later', async (t) => {
  const { begun, clock, ends, run } = setUp();
  for (let number = 0; number < AT_ONCE; number += 1) void run(number);
  const refused = t.rejects(run(4), { code: 'overloaded' });
  clock.advance(20_000);
  await refused;
  void run(5);
  ends[0]?.();
  await settled();
  t.same(begun, [0, 1, 2, 3, 5]);
});

t.test('when too many wait, one more is refused at once', async (t) => {
  const { run } = setUp();
  for (let number = 0; number < AT_ONCE + WAITING_MAX; number += 1) void run(number);
  await t.rejects(run(-1), { code: 'overloaded' });
});

t.test('clients take turns: a rush of one delays the others by one check', async (t) => {
  const { begun, ends, run } = setUp();
  for (let number = 0; number < 100; number += 1) void run(number, 'rush');
  void run(200, 'calm');
  void run(300, 'other');
  void run(201, 'calm');
  for (let turn = 0; turn < 6; turn += 1) {
    ends[begun[turn] ?? -1]?.();
    await settled();
  }
  t.same(begun, [0, 1, 2, 3, 300, 4, 200, 5, 201, 6]);
});

t.test('when too many wait, the client with the most loses one, and a calm one is let in', async (t) => {
  const { begun, ends, run } = setUp();
  const lost: number[] = [];
  for (let number = 0; number < AT_ONCE + WAITING_MAX; number += 1)
    run(number, 'rush').catch(() => lost.push(number));
  const calm = run(1_000, 'calm');
  await settled();
  t.same(lost, [AT_ONCE + WAITING_MAX - 1], 'the newest of the rush');
  for (const number of [0, 1]) ends[number]?.();
  await settled();
  ends[1_000]?.();
  t.equal(await calm, 1_000);
  t.same(begun.slice(0, 6), [0, 1, 2, 3, 1_000, 4]);
});

t.test(
  'a newcomer is neither refused nor delayed for hundreds of clients that come again and again',
  async (t) => {
    const { begun, ends, run } = setUp();
    const lost: number[] = [];
    const send = (number: number) => run(number, `client ${number % 300}`).catch(() => lost.push(number));
    for (let number = 0; number < 300; number += 1) void send(number);
    await settled();
    t.equal(lost.length, 300 - AT_ONCE - WAITING_MAX);
    // Each of those that waits comes again when it has had its turn.
    for (let turn = 0; turn < WAITING_MAX; turn += 1) {
      const number = begun[turn] ?? -1;
      ends[number]?.();
      await settled();
      void send(number + 300);
      await settled();
    }
    const lostBefore = lost.length;
    const newcomer = run(1_000, 'newcomer');
    await settled();
    t.equal(lost.length, lostBefore + 1);
    const begunBefore = begun.length;
    for (const number of begun.slice(-AT_ONCE)) ends[number]?.();
    await settled();
    t.ok(begun.slice(begunBefore).includes(1_000));
    ends[1_000]?.();
    t.equal(await newcomer, 1_000);
  },
);

t.test('names of two levels: those with one first name share its turns', async (t) => {
  const { begun, ends, run } = setUp();
  for (let number = 0; number < 100; number += 1) void run(number, 'victim', `stranger ${number}`);
  void run(200, 'other customer', 'home');
  void run(300, 'victim', 'home');
  void run(301, 'victim', 'stranger 0');
  for (let turn = 0; turn < 6; turn += 1) {
    ends[begun[turn] ?? -1]?.();
    await settled();
  }
  t.equal(begun[4], 200, 'another customer waits for one');
  t.same(begun.slice(5, 10), [4, 5, 6, 7, 8]);
});
