// Suggests the key that a person probably meant by an unknown one.
import { distance } from 'fastest-levenshtein';
import * as z from 'zod';

/** The path of a value: keys of maps, positions in lists. */
export type Path = readonly (string | number)[];

/** A word with more different letters is not similar. */
const DISTANCE_MAX = 3;
/** Too many words begin with fewer letters. */
const BEGINNING_MIN = 2;

/** The keys that a schema allows at `path`; none if it is not a map. */
export function allowedKeys(schema: z.ZodType, path: Path): string[] {
  let at = unwrapped(schema);
  for (const step of path) {
    if (at instanceof z.ZodObject) at = unwrapped(at.shape[step] as z.ZodType);
    else if (at instanceof z.ZodArray) at = unwrapped(at.element as z.ZodType);
    else if (at instanceof z.ZodRecord) at = unwrapped(at.valueType as z.ZodType);
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrapped(schema: z.ZodType): z.ZodType {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return isWrapper ? unwrapped(schema.unwrap() as z.ZodType) : schema;
}

/** The candidate that begins with `word`, or else the one that differs from it in the fewest letters, if any is similar at all. */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  const written = word.toLowerCase();
  const longer = candidates.find((candidate) => candidate.toLowerCase().startsWith(written));
  if (longer !== undefined && written.length >= BEGINNING_MIN) return longer;
  const [best] = candidates
    .map((candidate) => ({ candidate, letters: distance(written, candidate) }))
    .filter(({ candidate, letters }) => letters <= Math.min(DISTANCE_MAX, Math.ceil(candidate.length / 2)))
    .sort((one, other) => one.letters - other.letters);
  return best?.candidate;
}

/** The sentence after "… is not a field of this request." */
export function meantOrListed(meant: string | undefined, allowed: readonly string[]): string {
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  return allowed.length === 0 ? 'It has none.' : `Its fields are ${allowed.join(', ')}.`;
}
