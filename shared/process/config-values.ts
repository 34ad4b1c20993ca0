// Schemas for values in configuration files; their messages read as "must be …".
import * as z from 'zod';

/** A text of one form. Every scalar arrives as text, so that the zeros in front of a PIN survive. */
export const text = (pattern: RegExp, allowed: string) =>
  z.string(`must be ${allowed}`).regex(pattern, `must be ${allowed}`);
/** One of some words. */
export const choice = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });
/** `true` or `false`. */
export const yesOrNo = choice(['true', 'false']).transform((value) => value === 'true');
/** From `min` to `max`. */
export const wholeNumber = (min: number, max: number) =>
  text(/^\d{1,9}$/, `a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);
/** A map of known keys. */
export const map = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? 'must be a map' : undefined) });
