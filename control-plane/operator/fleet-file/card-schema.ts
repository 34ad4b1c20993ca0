// One SIM card in a fleet file: its fields, and what each must be. Every value is a text.
import * as z from 'zod';
import { E164_PATTERN, hasLuhnDigit } from '#shared/identities.ts';
import { nodeNameSchema } from '#shared/link/enrollment.ts';
import { isSellable } from '../../domain/sellable-number.ts';

/** More than the largest fleets have. */
export const CARDS_MAX = 10_000;
const WORDS_LENGTH_MAX = 64;

const iccid = z
  .string('every card needs its ICCID')
  .regex(/^\d{18,22}$/, {
    error: 'must be an ICCID: the 18 to 22 digits that are printed on the card',
    abort: true,
  })
  .refine((digits) => hasLuhnDigit(digits), 'has a wrong check digit: compare it with the card');

const number = z
  .string()
  .regex(E164_PATTERN, { error: 'must be an E.164 number, such as +12065550123', abort: true })
  .refine((text) => isSellable(text), 'is not a US mobile number');

/** An empty value removes what the service has; a missing one leaves it. */
const clearable = (schema: z.ZodType<string, string>) =>
  z
    .string('must be text')
    .nullish()
    .transform((text, context) =>
      text === undefined ? undefined : text ? read(schema, text, context) : null,
    );

/** An empty value is a missing one. */
const optional = (schema: z.ZodType<string, string>) =>
  z
    .string('must be text')
    .optional()
    .transform((text, context) => (text ? read(schema, text, context) : undefined));

function read(schema: z.ZodType<string, string>, text: string, context: z.RefinementCtx): string {
  const parsed = schema.safeParse(text);
  if (parsed.success) return parsed.data;
  context.addIssue({ code: 'custom', message: parsed.error.issues[0]?.message ?? 'is invalid' });
  return z.NEVER;
}

const words = z
  .string('must be text')
  .trim()
  .max(WORDS_LENGTH_MAX, `must have at most ${WORDS_LENGTH_MAX} characters`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text');

const DATE = 'must be a date, such as 2026-12-31';
const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, { error: DATE, abort: true })
  .refine((text) => isDate(text), DATE);

const COST = 'must be dollars, such as 12 or 4.50, with a point and at most two digits after it';

/** The fields of a card. `null`: remove the value. */
export const CARD_FIELDS = {
  iccid,
  number: optional(number),
  pin: clearable(z.string().regex(/^\d{4,8}$/, 'must be a PIN of 4 to 8 digits')),
  label: clearable(words),
  carrier: clearable(words),
  plan: clearable(words),
  plan_expires: clearable(date),
  monthly_cost: clearable(z.string().regex(/^\d{1,5}(\.\d{1,2})?$/, COST)),
  node: optional(nodeNameSchema),
} as const;

export type CardField = keyof typeof CARD_FIELDS;
export const CARD_FIELD_NAMES = Object.keys(CARD_FIELDS) as readonly CardField[];

/** A card, and the line of the file that it begins in. */
export const fleetRowSchema = z.object({ line: z.number().int().positive(), ...CARD_FIELDS });
export type FleetRow = z.output<typeof fleetRowSchema>;

/** A day of the calendar. */
function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Reports values of `iccid` and `number` that occur twice, as `[index, field, index of the first]`. */
export function* repeated(
  rows: ReadonlyArray<{ iccid?: unknown; number?: unknown } | null>,
): Generator<[number, 'iccid' | 'number', number]> {
  for (const field of ['iccid', 'number'] as const) {
    const first = new Map<unknown, number>();
    for (const [index, row] of rows.entries()) {
      const value = row?.[field];
      if (typeof value !== 'string' || value === '') continue;
      const earlier = first.get(value);
      if (earlier === undefined) first.set(value, index);
      else yield [index, field, earlier];
    }
  }
}
