// Seeds: numbers that are easy to copy from a log.

export const SEED_MAX = 2 ** 31 - 1;

/** A random seed. */
export const randomSeed = (): number => Math.floor(Math.random() * SEED_MAX);
