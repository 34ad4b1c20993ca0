// Input against its schema: what passes is trusted, what does not is refused with the field at fault.
import type * as z from 'zod';
import type { RefusalCode } from '#shared/api/refusals.ts';
import { Refusal } from './refusal.ts';

/** Checks input against a schema. Throws a `Refusal` that names the first field at fault. */
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
  if (field === '') throw new Refusal('invalid_request', 'the body must be a JSON object');
  throw new Refusal(
    fieldRefusal,
    `"${field}": ${unknown === undefined ? issue?.message : 'is not known here'}`,
    { details: { field } },
  );
}
