// The size of an LRU cache that reserves no memory for entries that may never come, as `max` would.
/** Options of an LRU cache for this many entries. */
export const upTo = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
