// Logs refusals: one line a minute for each reason, however many come, because a line is written before anything else is done.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';

const EVERY_MS = 60_000;

interface Reason {
  /** Refused since its last line. */
  count: number;
  timer: Timer;
}

export class RefusalLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #what: string;
  readonly #reasons = new Map<string, Reason>();
  #isStopped = false;

  /** `what` is refused, in the singular. */
  constructor({ clock, log }: { clock: Clock; log: Logger }, what: string) {
    this.#what = what;
    this.#clock = clock;
    this.#log = log;
  }

  /** `why`: one of a few sentences. */
  note(why: string, fields: object): void {
    if (this.#isStopped) return;
    const known = this.#reasons.get(why);
    if (known !== undefined) {
      known.count += 1;
      return;
    }
    this.#log.warn(fields, `${this.#what} refused: ${why}`);
    const reason = { count: 0, timer: this.#clock.after(EVERY_MS, () => this.#end(why, reason)) };
    this.#reasons.set(why, reason);
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#reasons.values()) timer.cancel();
  }

  #end(why: string, { count }: Reason): void {
    this.#reasons.delete(why);
    if (count > 0) this.#log.warn({ count }, `more ${this.#what}s refused in a minute: ${why}`);
  }
}
