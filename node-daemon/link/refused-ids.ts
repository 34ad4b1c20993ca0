// Ids of commands that were said never to be tried: one of them may still be on its way over an older link.
import type { Clock } from '#shared/clock.ts';

/** A link that delivers nothing for so long has been ended by either side many times over. */
const KEPT_MS = 60 * 60 * 1000;
/** Some 2 MB; a server asks for 500 at a time, once a link. */
const REFUSED_IDS_MAX = 10_000;

/** Remembers ids for an hour at least, or until `REFUSED_IDS_MAX` newer ones came. */
export class RefusedIds {
  readonly #clock: Clock;
  /** When each was refused, oldest first. */
  readonly #refused = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#refused.has(id);
  }

  add(id: string): void {
    const now = this.#clock.now();
    this.#refused.delete(id);
    this.#refused.set(id, now);
    for (const [oldest, at] of this.#refused) {
      if (at > now - KEPT_MS && this.#refused.size <= REFUSED_IDS_MAX) return;
      this.#refused.delete(oldest);
    }
  }
}
