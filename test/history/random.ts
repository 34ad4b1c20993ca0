// Random choices that a seed repeats: the same words give the same stream, in whatever order streams are used.

export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** The stream of a seed and a purpose, for instance `randomOf(7, 'inbound', 3, 120)`. */
export function randomOf(seed: number, ...purpose: readonly (string | number)[]): Random {
  let state = hashOf([seed, ...purpose].join('/'));
  // mulberry32: 32 bits of state are plenty for the few draws of one purpose.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (choices) => {
      const chosen = choices[integer(0, choices.length - 1)];
      if (chosen === undefined) throw new Error('nothing to choose from');
      return chosen;
    },
  };
}

/** FNV-1a over UTF-16 units, 32 bits: short fingerprints of texts, too. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
