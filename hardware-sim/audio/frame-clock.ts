// Schedules the audio frames of all modems: deadlines on a monotonic clock, with one timer.
import type { Clock, Timer } from '#shared/clock.ts';

/** How many late frames a modem sends after a stall of this process. Hardware would lose older ones too. */
const CATCH_UP_MS = 200;
/** Interval between late frames. The host may have stalled too, and gets time to answer each. */
const CATCH_UP_EVERY_MS = 5;

/**
 * Monotonic time: milliseconds since the epoch with fractions. It equals `performance.timeOrigin +
 * performance.now()` in any program on this machine.
 */
export const audioTime: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after(delayMs, callback) {
    let immediate: NodeJS.Immediate | undefined;
    // Node truncates fractions, and a timer must not fire early. After a stall, a timer fires before Node reads
    // the input that arrived meanwhile. `setImmediate` lets Node read that input first.
    const timeout = setTimeout(
      () => {
        immediate = setImmediate(callback);
      },
      Math.max(0, Math.ceil(delayMs)),
    );
    return {
      cancel() {
        clearTimeout(timeout);
        clearImmediate(immediate);
      },
    };
  },
};

/** An object that plays frames at its own times. */
export interface Ticker {
  /** Time of the next frame. */
  readonly dueMs: number;
  /** Plays the frame that is due, and sets the time of the next one. */
  tick(): void;
  /** The frame that is due is too old: it is lost. Sets the time of the next one. */
  skip(): void;
}

export class FrameClock {
  readonly #clock: Clock;
  /** Each with the time before which it must not have its next frame. */
  readonly #tickers = new Map<Ticker, number>();
  #timer: Timer | undefined;
  #timerDueMs = Number.POSITIVE_INFINITY;
  #isRunning = false;

  /** `clock` must not be set back, and should know fractions of milliseconds. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  add(ticker: Ticker): void {
    this.#tickers.set(ticker, Number.NEGATIVE_INFINITY);
    this.#setTimer();
  }

  remove(ticker: Ticker): void {
    this.#tickers.delete(ticker);
    if (this.#tickers.size === 0) this.#cancel();
  }

  #setTimer(): void {
    if (this.#isRunning || this.#tickers.size === 0) return;
    let dueMs = Number.POSITIVE_INFINITY;
    for (const [ticker, notBeforeMs] of this.#tickers)
      dueMs = Math.min(dueMs, Math.max(ticker.dueMs, notBeforeMs));
    if (dueMs >= this.#timerDueMs) return;
    this.#cancel();
    this.#timerDueMs = dueMs;
    this.#timer = this.#clock.after(Math.max(0, dueMs - this.#clock.now()), () => this.#run());
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDueMs = Number.POSITIVE_INFINITY;
  }

  #run(): void {
    this.#cancel();
    this.#isRunning = true;
    try {
      for (const [ticker, notBeforeMs] of [...this.#tickers]) this.#play(ticker, notBeforeMs);
    } finally {
      this.#isRunning = false;
      this.#setTimer();
    }
  }

  /** One frame at a time: between two that are late the host can give its answer to the first. */
  #play(ticker: Ticker, notBeforeMs: number): void {
    const nowMs = this.#clock.now();
    while (nowMs - ticker.dueMs > CATCH_UP_MS) ticker.skip();
    if (Math.max(ticker.dueMs, notBeforeMs) > nowMs || !this.#tickers.has(ticker)) return;
    this.#tickers.set(ticker, nowMs + CATCH_UP_EVERY_MS);
    ticker.tick();
  }
}
