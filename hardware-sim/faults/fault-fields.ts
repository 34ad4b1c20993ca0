// The schemas of faults from their fields, and the fields that many faults have.
import * as z from 'zod';

/** Longest duration of a fault: a day. A fault without a duration lasts until it is cleared. */
export const DURATION_MS_MAX = 86_400_000;
const COUNT_MAX = 1_000_000;

export const durationMs = z
  .int()
  .min(1)
  .max(DURATION_MS_MAX)
  .optional()
  .meta({ description: 'How long the fault lasts. Without it: until it is cleared.' });
export const count = z
  .int()
  .min(1)
  .max(COUNT_MAX)
  .default(1)
  .meta({ description: 'How many times the fault strikes.' });

type Schemas<T extends Record<string, z.ZodRawShape>> = {
  readonly [K in keyof T & string]: z.ZodObject<{ kind: z.ZodLiteral<K> } & T[K], z.core.$strict>;
};

/** By kind: an object with that `kind` and those fields, and no others. */
export const faultsOf = <T extends Record<string, z.ZodRawShape>>(fields: T): Schemas<T> =>
  Object.fromEntries(
    Object.entries(fields).map(([kind, own]) => [kind, z.strictObject({ kind: z.literal(kind), ...own })]),
  ) as Schemas<T>;
