// The order in which people count: m2 before m10. For names of slots, nodes and USB paths.

/** Digits that a number is filled up to; a longer one is compared digit by digit. */
const DIGITS = 20;

/** Compares two names by their words and numbers, in capitals or not: "m2" before "m10", "1-1.9" before "1-1.10". For `sort`. */
export function compareNaturally(one: string, other: string): number {
  return compare(keyOf(one), keyOf(other)) || compare(one, other);
}

/** A text whose order by code points is the natural one. Equal for "m1" and "m01". The database has the same, as `naturalOrder`. */
const keyOf = (name: string): string =>
  name.toLowerCase().replace(/\d+/g, (digits) => digits.replace(/^0+(?=\d)/, '').padStart(DIGITS, '0'));

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
