// When frames are due: on a clock that is moved by hand.
import t from 'tap';
import { FrameClock, type Ticker } from '#hardware-sim/audio/frame-clock.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';

class Counter implements Ticker {
  dueMs: number;
  ticks = 0;
  skips = 0;
  readonly #periodMs: number;

  constructor(clock: ManualClock, periodMs: number) {
    this.#periodMs = periodMs;
    this.dueMs = clock.now() + periodMs;
  }

  tick(): void {
    this.ticks += 1;
    this.dueMs += this.#periodMs;
  }

  skip(): void {
    this.skips += 1;
    this.dueMs += this.#periodMs;
  }
}

t.test('each ticker keeps its own time over an hour, on one timer', async (t) => {
  const time = new ManualClock(0);
  const clock = new FrameClock(time);
  const tickers = [20, 20 / 1.0002, 20 / 0.9998].map((periodMs) => new Counter(time, periodMs));
  for (const ticker of tickers) clock.add(ticker);
  for (let second = 0; second < 3600; second++) time.advance(1000);
  // 200 ppm of 180 000 frames are 36.
  const counts = tickers.map(({ ticks }) => ticks);
  for (const [index, wanted] of [180_000, 180_036, 179_964].entries()) {
    t.ok(Math.abs((counts[index] ?? 0) - wanted) <= 1, `${counts[index]} frames, ${wanted} wanted`);
  }
  for (const ticker of tickers) clock.remove(ticker);
  t.equal(time.untilNextMs, Number.POSITIVE_INFINITY, 'no timer is left');
});

t.test('after a stall ten frames are made up for, the others are lost', async (t) => {
  let nowMs = 0;
  const timers: (() => void)[] = [];
  const delays: number[] = [];
  const clock = new FrameClock({
    now: () => nowMs,
    after: (delayMs, callback) => {
      timers.push(callback);
      delays.push(delayMs);
      return { cancel: () => void timers.splice(timers.indexOf(callback), 1) };
    },
  });
  const ticker = new Counter(new ManualClock(0), 20);
  clock.add(ticker);
  nowMs = 1010;
  timers.shift()?.();
  t.equal(ticker.skips, 40);
  t.equal(ticker.ticks, 1, 'one at a time: others have their turn in between');
  while (ticker.ticks < 10) {
    t.equal(delays.at(-1), 5, 'and have their time');
    nowMs += 5;
    timers.shift()?.();
  }
  t.equal(ticker.skips, 40);
  t.equal(ticker.dueMs, 1020);
  // The frames of 1020 and 1040 ms have become late meanwhile; then it is on time.
  for (; ticker.ticks < 12; nowMs += 5) timers.shift()?.();
  t.equal(ticker.dueMs, 1060);
});
