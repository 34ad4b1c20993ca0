// Replaces typographic characters by those of the GSM 7 bit alphabet, so that a text has 160 characters and not 70. Letters stay as they are.
import { septetsOfChar } from './gsm7-alphabet.ts';

const REPLACEMENTS: readonly (readonly [characters: string, replacement: string])[] = [
  ['\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4\u0060', "'"],
  ['\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb', '"'],
  ['\u2010\u2011\u2012\u2013\u2014\u2015\u2212', '-'],
  ['\u2026', '...'],
  ['\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\t', ' '],
  ['\u2028\u2029', '\n'],
  ['\u200b\u200c\u200d\u2060\ufeff\u00ad', ''],
  ['\u2022\u00b7', '*'],
  ['\u2192', '->'],
  ['\u00d7', 'x'],
];
const BY_CHARACTER = new Map(
  REPLACEMENTS.flatMap(([characters, replacement]) =>
    [...characters].map((char): [string, string] => [char, replacement]),
  ),
);

/** A kind of character that was replaced. */
export interface Replacement {
  from: string;
  to: string;
  count: number;
}

/**
 * The text with its typographic characters replaced, and what was replaced. A text with other characters outside the alphabet (emoji, Greek,
 * Chinese) is UCS-2 whatever happens, so it is returned unchanged.
 */
export function transliterate(text: string): { text: string; replaced: Replacement[] } {
  const replaced = new Map<string, Replacement>();
  let result = '';
  for (const char of text) {
    const replacement = septetsOfChar(char) === undefined ? BY_CHARACTER.get(char) : char;
    if (replacement === undefined) return { text, replaced: [] };
    if (replacement !== char) {
      const count = (replaced.get(char)?.count ?? 0) + 1;
      replaced.set(char, { from: char, to: replacement, count });
    }
    result += replacement;
  }
  return { text: result, replaced: [...replaced.values()] };
}
