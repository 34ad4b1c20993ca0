// Fields that many faults have.
import * as z from 'zod';

/** Longest duration of a fault: a day. A fault without a duration lasts until it is cleared. */
export const DURATION_MS_MAX = 86_400_000;
const COUNT_MAX = 1_000_000;

export const DURATION_MS = z
  .int()
  .min(1)
  .max(DURATION_MS_MAX)
  .optional()
  .meta({ description: 'How long the fault lasts. Without it: until it is cleared.' });
export const COUNT = z
  .int()
  .min(1)
  .max(COUNT_MAX)
  .default(1)
  .meta({ description: 'How many times the fault strikes.' });
