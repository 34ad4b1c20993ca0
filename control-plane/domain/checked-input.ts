// Validates input against its schema; a refusal names the invalid field.
import type * as z from 'zod';
import type { RefusalCode } from '#shared/api/refusals.ts';
import { Refusal } from './refusal.ts';

/** Validates input against a schema. Throws a `Refusal` that names the first invalid field. */
export function check<T>(
  schema: z.ZodType<T>,
  input: unknown,
  fieldRefusal: RefusalCode = 'invalid_request',
): T {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const field = unknown ?? issue?.path.join('.') ?? '';
  if (field === '') throw new Refusal('invalid_request', 'The body must be a JSON object.');
  throw new Refusal(
    fieldRefusal,
    `"${field}": ${unknown === undefined ? issue?.message : 'is not a field of this request'}`,
    { details: { field } },
  );
}
