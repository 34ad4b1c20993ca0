// Validates input against its schema; a refusal names the invalid field.
import type * as z from 'zod';
import type { RefusalCode } from '#shared/api/refusals.ts';
import { refusedFields } from '#shared/api/requests.ts';
import { likelyNumber } from '#shared/destination.ts';
import { allowedKeys, closest, meantOrListed, type Path } from '#shared/process/suggestion.ts';
import { Refusal } from './refusal.ts';

/** The `field` of a refusal of the whole body: the root, as in JSONPath (RFC 9535). */
export const WHOLE = '$';

/** Validates input against a schema. Throws a `Refusal` that names the first invalid field. */
export function check<T>(
  schema: z.ZodType<T>,
  input: unknown,
  fieldRefusal: RefusalCode = 'invalid_request',
): T {
  const named = refusedFieldOf(schema, input);
  if (named !== undefined) {
    throw new Refusal(fieldRefusal, `"${named.field}" ${named.why}`, { details: { field: named.field } });
  }
  const parsed = schema.safeParse(withoutEmpty(schema, input));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : [];
  const field = unknown ?? issue?.path.join('.') ?? '';
  if (field === '')
    throw new Refusal('invalid_request', 'The body must be a JSON object.', { details: { field: WHOLE } });
  if (unknown !== undefined) throw unknownField(unknown, allowedKeys(schema, issue?.path as Path));
  const mistaken = mistakenFor(schema, input, issue?.path as Path);
  throw new Refusal(fieldRefusal, `"${field}": ${issue?.message}${mistaken?.words ?? ''}`, {
    details: {
      field,
      ...expectedBy(issue?.message ?? ''),
      ...numberDetails(field, input),
      ...(mistaken !== undefined && { unknown_field: mistaken.name }),
    },
  });
}

/** An unknown field beside a missing one: it was probably meant to be that. */
function mistakenFor(
  schema: z.ZodType,
  input: unknown,
  path: Path,
): { name: string; words: string } | undefined {
  const missing = path.at(-1);
  const parent = path.slice(0, -1);
  const holder = parent.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], input);
  if (typeof holder !== 'object' || holder === null || typeof missing !== 'string') return undefined;
  if (Object.hasOwn(holder, missing)) return undefined;
  const allowed = allowedKeys(schema, parent);
  const [name, ...others] = Object.keys(holder).filter((key) => !allowed.includes(key));
  if (name === undefined || allowed.length === 0) return undefined;
  const meant = others.length === 0 ? missing : closest(name, allowed);
  return {
    name,
    words: `. "${name}" is not a field of this request. ${meantOrListed(meant, allowed)}`,
  };
}

function unknownField(field: string, allowed: readonly string[]): Refusal {
  const meant = closest(field, allowed);
  const hint = meantOrListed(meant, allowed);
  return new Refusal('invalid_request', `"${field}" is not a field of this request. ${hint}`, {
    details: { field, ...(meant !== undefined && { suggestion: meant }) },
  });
}

const FORM = /^(?:each )?must (?:be|have) (.+)$|^(.+?) is required(?:$|:)|^Invalid input: expected (.+?),/;

/** The form that a field must have, if the message about it says so. */
function expectedBy(message: string): { expected?: string } {
  const expected = FORM.exec(message)?.slice(1).find(Boolean);
  return expected === undefined ? {} : { expected };
}

/** Fields that contain a phone number. */
const NUMBERS: ReadonlySet<string> = new Set(['to', 'phone_number']);

/** The form of a phone number, and the number that was probably meant. */
function numberDetails(field: string, input: unknown): { expected?: string; suggestion?: string } {
  if (!NUMBERS.has(field)) return {};
  const value = (input as Record<string, unknown>)[field];
  const suggestion =
    typeof value === 'string' || typeof value === 'number' ? likelyNumber(String(value)) : undefined;
  return { expected: 'E.164', ...(suggestion !== undefined && { suggestion }) };
}

/** A field that would be ignored although the client counts on it. */
function refusedFieldOf(schema: z.ZodType, input: unknown): { field: string; why: string } | undefined {
  const refused = refusedFields.get(schema);
  if (refused === undefined || typeof input !== 'object' || input === null) return undefined;
  const found = Object.entries(input).find(
    ([name, value]) => Object.hasOwn(refused, name) && !isEmpty(value),
  );
  return found && { field: found[0], why: refused[found[0]] ?? '' };
}

/** The input without such fields that are empty: a client that sends all that it knows counts on none of them. */
function withoutEmpty(schema: z.ZodType, input: unknown): unknown {
  const refused = refusedFields.get(schema);
  if (refused === undefined || typeof input !== 'object' || input === null || Array.isArray(input))
    return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(refused, name)));
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);
