// Chance as a dependency: programs use the system's, tests may pass one that repeats. Ids and secrets come from node:crypto.

/** Returns a number from 0 up to, but not including, 1. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
