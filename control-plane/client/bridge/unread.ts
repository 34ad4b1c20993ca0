// Whether a bot has stopped to read: its machine may be gone, although its connection is not. Pure.

/** A bot that is only slow reads something in this time. */
export const STALLED_MS = 10_000;

export class Unread {
  #since: { ms: number; bytes: number } | undefined;

  /** `bytes`: what waits for it, too much to add to. True once it has read nothing for `STALLED_MS`. */
  isStalled(bytes: number, nowMs: number): boolean {
    if (this.#since === undefined || bytes < this.#since.bytes) this.#since = { ms: nowMs, bytes };
    return nowMs - this.#since.ms >= STALLED_MS;
  }

  /** Little waits for it. */
  reads(): void {
    this.#since = undefined;
  }
}
