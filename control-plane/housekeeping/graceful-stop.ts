// How work that sends to others stops: it begins nothing more, and what is under way has a few seconds to end.
import type { Clock } from '#shared/clock.ts';

/** Work that is under way at a stop gets this long. */
const STOP_MS = 4_000;

export class GracefulStop {
  readonly #ending = new AbortController();
  readonly #aborting = new AbortController();
  /** Aborted when nothing more may begin. */
  readonly ending: AbortSignal = this.#ending.signal;
  /** Aborted when what is under way must end. */
  readonly aborting: AbortSignal = this.#aborting.signal;

  /** Settles as `stopped` does: the end of the work, which is asked for when nothing more may begin. */
  async end(clock: Clock, stopped: () => Promise<unknown>): Promise<void> {
    this.#ending.abort();
    const timer = clock.after(STOP_MS, () => this.#aborting.abort());
    try {
      await stopped();
    } finally {
      timer.cancel();
      this.#aborting.abort();
    }
  }
}
