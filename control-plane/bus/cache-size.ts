/** Options of an LRU cache of so many entries. Unlike `max`, they reserve no memory for entries that may never come. */
export const upTo = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
