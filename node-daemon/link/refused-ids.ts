// Ids of commands that the node promised never to try. Such a command may still arrive over an older link.
import type { Clock } from '#shared/clock.ts';

/** A link that delivers nothing for this long has ended long before. */
const KEPT_MS = 60 * 60 * 1000;
/** About 2 MB. A server sends 500 ids at a time, once per link. */
const REFUSED_IDS_MAX = 10_000;

/** Remembers ids for at least an hour, or until `REFUSED_IDS_MAX` newer ones came. */
export class RefusedIds {
  readonly #clock: Clock;
  /** Time of each refusal, oldest first. */
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
