// Which slot names of a node may be labels. A node chooses its names, so they are bounded: each name is a series of Prometheus for weeks.

/** As many slots as a report can have. */
export const NAMES_MAX = 256;

/** A name that the node no longer reports makes room for another one after a day. */
export const FORGOTTEN_AFTER_MS = 24 * 60 * 60_000;

export class SlotNames {
  /** By node: when each name was last reported. */
  readonly #seen = new Map<string, Map<string, number>>();

  /** Returns those of the reported names that may be labels: the first that the node used, up to `NAMES_MAX`. */
  admit(node: string, reported: readonly string[], nowMs: number): ReadonlySet<string> {
    const seen = this.#seen.get(node) ?? new Map<string, number>();
    this.#seen.set(node, seen);
    for (const [name, at] of seen) if (nowMs - at > FORGOTTEN_AFTER_MS) seen.delete(name);
    const admitted = reported.filter((name) => {
      if (!seen.has(name) && seen.size >= NAMES_MAX) return false;
      seen.set(name, nowMs);
      return true;
    });
    return new Set(admitted);
  }

  /** Forgets all other nodes. */
  keep(nodes: readonly string[]): void {
    const kept = new Set(nodes);
    for (const node of this.#seen.keys()) if (!kept.has(node)) this.#seen.delete(node);
  }
}
