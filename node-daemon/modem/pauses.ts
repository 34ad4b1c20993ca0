// The pauses of a session between polls. A URC can end a pause early, and the end of the session ends all of them.
import type { Clock } from '#shared/clock.ts';

/** Least time between polls after URCs. It doubles while each poll causes another such URC. */
const URC_POLL_MIN_MS = 1_000;
/** Interval of polls for answers, signal, SIM, lost settings, and messages with a lost announcement. */
export const POLL_MS = 30_000;

/** The pauses of one session. */
export class Pauses {
  readonly #clock: Clock;
  readonly #onPause: () => void;
  #ended: Error | undefined;
  #isPollWanted = false;
  /** No URC ends a pause before this time. */
  #nextPollAt = Number.NEGATIVE_INFINITY;
  #gapMs = URC_POLL_MIN_MS;
  #wakeUp: (() => void) | undefined;

  /** `onPause` is called at the beginning of each. */
  constructor(clock: Clock, onPause: () => void = () => undefined) {
    this.#clock = clock;
    this.#onPause = onPause;
  }

  /** Ends the current or the next pause, as soon as URCs may do so. */
  pollNow(): void {
    this.#isPollWanted = true;
    this.#wakeUp?.();
  }

  /** Ends the session: this pause and all later ones reject with `reason`. */
  end(reason: Error): void {
    this.#ended = reason;
    this.#wakeUp?.();
  }

  /** Waits for `delayMs`, or less after `pollNow`. Only one caller at a time. Rejects when the session is over. */
  async pause(delayMs: number): Promise<void> {
    const end = this.#clock.now() + delayMs;
    this.#onPause();
    for (;;) {
      if (this.#ended !== undefined) throw this.#ended;
      const dueAt = this.#isPollWanted ? Math.min(end, this.#nextPollAt) : end;
      if (this.#clock.now() >= dueAt) break;
      await this.#sleep(dueAt - this.#clock.now());
    }
    if (this.#isPollWanted) {
      this.#nextPollAt = this.#clock.now() + this.#gapMs;
      this.#gapMs = Math.min(this.#gapMs * 2, POLL_MS);
    } else this.#gapMs = URC_POLL_MIN_MS;
    this.#isPollWanted = false;
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.after(delayMs, resolve);
      this.#wakeUp = () => {
        timer.cancel();
        resolve();
      };
    });
  }
}
