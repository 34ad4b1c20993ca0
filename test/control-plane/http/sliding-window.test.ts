// The count behind every limit, at arbitrary times: never more than the policy in any window, never fewer for longer than a slot more.
import fc from 'fast-check';
import t from 'tap';
import { SlidingWindow } from '#control-plane/http/sliding-window.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

const WITHIN_MS = 1_200;
const SLOT_MS = WITHIN_MS / 12;

const max = fc.integer({ min: 1, max: 8 });
/** Bursts, steady streams, and silence around the ends of slots and windows. */
const waitMs = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 0, max: 30 }),
  fc.constantFrom(SLOT_MS - 1, SLOT_MS, SLOT_MS + 1, WITHIN_MS - 1, WITHIN_MS, WITHIN_MS + 1),
  fc.integer({ min: 0, max: 3 * WITHIN_MS }),
);
const arrivals = fc.array(fc.record({ waitMs, key: fc.constantFrom('a', 'b'), isGivenBack: fc.boolean() }), {
  maxLength: 120,
});
const start = fc.integer({ min: 0, max: 10 * WITHIN_MS });

const countIn = (times: readonly number[], after: number, until: number): number =>
  times.filter((time) => time > after && time <= until).length;

t.test("no window of the policy's length lets more through than the policy", async () => {
  await fc.assert(
    fc.asyncProperty(start, max, arrivals, async (startMs, max, arrivals) => {
      const clock = new ManualClock(startMs);
      const window = new SlidingWindow({ clock, max, withinMs: WITHIN_MS });
      const passed: Record<string, number[]> = { a: [], b: [] };
      for (const { waitMs, key } of arrivals) {
        clock.advance(waitMs);
        const now = clock.now();
        const times = passed[key] ?? [];
        const { isAllowed, left } = await window.use(key);
        if (isAllowed) times.push(now);
        const inWindow = countIn(times, now - WITHIN_MS, now);
        if (inWindow > max) throw new Error(`${inWindow} of ${max} at ${now}`);
        if (left > max - inWindow) throw new Error(`${left} left beside ${inWindow} of ${max}`);
        if (!isAllowed && countIn(times, now - WITHIN_MS - SLOT_MS, now) < max)
          throw new Error(`refused at ${now} for what is longer ago`);
      }
    }),
    { numRuns: 2_000 },
  );
});

t.test('many at once are counted as if they came one after the other', async (t) => {
  await fc.assert(
    fc.asyncProperty(max, fc.integer({ min: 1, max: 40 }), async (max, count) => {
      const window = new SlidingWindow({ clock: new ManualClock(), max, withinMs: WITHIN_MS });
      const uses = await Promise.all(Array.from({ length: count }, () => window.use('a')));
      t.equal(uses.filter(({ isAllowed }) => isAllowed).length, Math.min(max, count));
    }),
    { numRuns: 100 },
  );
});

t.test('a use passes after the wait that the refusal gave, however often it was asked', async () => {
  await fc.assert(
    fc.asyncProperty(start, max, arrivals, async (startMs, max, arrivals) => {
      const clock = new ManualClock(startMs);
      const window = new SlidingWindow({ clock, max, withinMs: WITHIN_MS });
      for (const { waitMs } of arrivals) {
        clock.advance(waitMs);
        const { isAllowed, left, moreInMs } = await window.use('a');
        if (isAllowed && left > 0) continue;
        await window.use('a');
        clock.advance(moreInMs);
        if (!(await window.use('a')).isAllowed) throw new Error(`not after ${moreInMs} ms`);
      }
    }),
    { numRuns: 500 },
  );
});

t.test('a use that is given back does not count, and a refused use gives nothing back', async (t) => {
  await fc.assert(
    fc.asyncProperty(start, max, arrivals, async (startMs, max, arrivals) => {
      const clock = new ManualClock(startMs);
      const window = new SlidingWindow({ clock, max, withinMs: WITHIN_MS });
      const kept: number[] = [];
      for (const { waitMs, isGivenBack } of arrivals) {
        const at = clock.now();
        const use = await window.use('a');
        clock.advance(waitMs % SLOT_MS);
        if (isGivenBack || !use.isAllowed) use.giveBack();
        else kept.push(at);
        clock.advance(waitMs);
        if (countIn(kept, clock.now() - WITHIN_MS, clock.now()) > max) throw new Error('too many');
      }
      clock.advance(2 * WITHIN_MS);
      for (let count = 0; count < 3 * max; count += 1) {
        const use = await window.use('a');
        t.equal(use.isAllowed, true);
        use.giveBack();
      }
    }),
    { numRuns: 200 },
  );
});

t.test('a flood of keys is forgotten, oldest first, and memory stays bounded', async (t) => {
  const clock = new ManualClock(0);
  const window = new SlidingWindow({ clock, max: 1, withinMs: WITHIN_MS });
  await window.use('early');
  for (let key = 0; key < 150_000; key += 1) {
    await window.use(`2001:db8:${key}`);
    if (key % 50_000 === 0) t.equal((await window.use(`2001:db8:${key}`)).isAllowed, false);
  }
  t.ok(window.size <= 13 * 10_001, `${window.size} keys`);
  t.equal((await window.use('early')).isAllowed, true, 'the price of the bound: the oldest key is forgotten');
  clock.advance(2 * WITHIN_MS);
  await window.use('late');
  t.equal(window.size, 1, 'and nothing of it stays');
});
