// Ids of commands that must not be tried again.
import type { Clock } from '#shared/clock.ts';

/** A link that delivers nothing for this long has ended long before, and the control plane takes no message of the bus that is so old. */
const KEPT_MS = 60 * 60 * 1000;
/** About 2 MB. */
const IDS_MAX = 10_000;

/** Remembers ids for at least an hour, or until `IDS_MAX` newer ones came. */
export class RecentIds {
  readonly #clock: Clock;
  /** Time of each id, oldest first. */
  readonly #addedAt = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(id: string): boolean {
    return this.#addedAt.has(id);
  }

  add(id: string): void {
    const now = this.#clock.now();
    this.#addedAt.delete(id);
    this.#addedAt.set(id, now);
    for (const [oldest, at] of this.#addedAt) {
      if (at > now - KEPT_MS && this.#addedAt.size <= IDS_MAX) return;
      this.#addedAt.delete(oldest);
    }
  }
}
