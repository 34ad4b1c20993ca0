// The fields of operator procedures, which options of commands have, too.
import * as z from 'zod';
import { E164_PATTERN, e164Problem, iccidSchema } from '#shared/identities.ts';
import { nodeNameSchema } from '#shared/link/enrollment.ts';
import { placeOfText, slotNameSchema } from '#shared/link/slot.ts';

export const LIMIT_MAX = 1_000;
export const IMPORT_LINES_MAX = 10_000;
export const REASON_LENGTH_MAX = 200;
/** A goodwill of ten years is a mistake. */
export const DAYS_MAX = 3_650;

/** Printed one a line in terminals and logs. */
export const reasonSchema = z
  .string({ error: 'required: give the reason in a few words' })
  .trim()
  .min(1, 'must not be empty')
  .max(REASON_LENGTH_MAX, `must have at most ${REASON_LENGTH_MAX} characters`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text');

export const numberSchema = z.string().regex(E164_PATTERN, {
  error: ({ input }) => e164Problem('must be an E.164 number, such as +12065550123', input),
});
export const walletSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed address of 20 bytes');
export const paymentIdSchema = z
  .string()
  .regex(/^pay_[0-9a-f]{24}$/, 'must be the id of a payment, such as pay_0f…');
export const subscriptionIdSchema = z
  .string()
  .regex(/^sub_[0-9a-f]{1,24}$/, 'must be the id of a subscription');
/** Amount of money, as operators write it. */
export const decimalAmountSchema = z
  .string({ error: 'must be an amount, such as 900 or 899.50' })
  .regex(/^\d{1,60}(\.\d{1,18})?$/, 'must be an amount, such as 900 or 899.50')
  .refine((text) => /[1-9]/.test(text), 'must be more than 0');
/** Amount of money, in the token's smallest unit. */
export const atomicSchema = z
  .string()
  .regex(/^[1-9]\d{0,77}$/, 'must be a whole number of the smallest unit of the token');
export const transactionHashSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a transaction hash')
  .transform((text) => text.toLowerCase() as `0x${string}`);

export const nodeSchema = z.string({ error: 'must be the name of a node' }).pipe(nodeNameSchema);
/** As a node reports it. */
export const slotInputSchema = z
  .string({ error: 'must be the name of a slot' })
  .min(1, 'must be the name of a slot')
  .max(64, 'must have at most 64 characters')
  .pipe(slotNameSchema);
export const placeSchema = z.object({ node: nodeSchema, slot: slotInputSchema });
/** A slot as it is shown: "rack-7/m3". */
export const placeTextSchema = z
  .string()
  .regex(/^[a-z0-9-]{1,32}\/./, 'must be node/slot, for example rack-7/m3')
  .transform(placeOfText);
/** A card, by its ICCID or by the slot that reports it. */
export const cardSchema = z.union([z.object({ iccid: iccidSchema }), placeSchema]);
/** The same as it is written: "8901…", "rack-7/m3". */
export const cardTextSchema = z.union([iccidSchema.transform((iccid) => ({ iccid })), placeTextSchema], {
  error: 'must be an ICCID, or node/slot, for example rack-7/m3',
});
/** Name of a person who may sign in to the console. */
export const operatorNameSchema = z
  .string({ error: 'must be the name of an operator' })
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,39}$/i,
    'must have at most 40 letters, digits, dots, dashes and underscores',
  );
export const fingerprintSchema = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be a fingerprint: SHA256: and 43 characters');
export const probeIdSchema = z
  .string()
  .regex(/^probe_[0-9a-f]{24}$/, 'must be the id of a probe, such as probe_0f…');
export const PROBE_SPANS = ['hour', 'day', 'week'] as const;

export const limitSchema = z.number().int().min(1).max(LIMIT_MAX);
/** The place of a row in a list that grows. */
export const positionSchema = z.number().int().positive();

/** The place of an alert in its list, as text. */
const ALERT_PLACE = /^([0-4])-(\d{1,14})-([^\p{Cc}\p{Cs}]{1,100})$/u;
export const alertPlace = ({
  urgency,
  raised_at: at,
  id,
}: {
  urgency: number;
  raised_at: Date;
  id: string;
}): string => `${urgency}-${at.getTime()}-${id}`;
export const alertPlaceTextSchema = z
  .string()
  .regex(ALERT_PLACE, 'must be what the previous page ended with');
export const alertPlaceSchema = alertPlaceTextSchema.transform((text) => {
  const [, urgency, ms, id = ''] = ALERT_PLACE.exec(text) ?? [];
  return { urgency: Number(urgency), raisedAt: new Date(Number(ms)), id };
});

const FIND_LENGTH_MIN = 2;
const FIND_PROBLEM = `must have at least ${FIND_LENGTH_MIN} characters`;
/** Part of a number, ICCID, slot and so on. */
export const findSchema = z
  .string()
  .trim()
  .max(100, 'must have at most 100 characters')
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text')
  .min(FIND_LENGTH_MIN, FIND_PROBLEM);
/** A network's code, or a part of its name. */
export const carrierSchema = z
  .string()
  .trim()
  .min(2, 'must be a network code, such as 310260, or a part of its name, such as t-mobile')
  .max(64, 'must have at most 64 characters');
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;
const TIME_PROBLEM = 'must be a date or a time, such as 2026-11-25 or 2026-11-25T09:30Z';
/** UTC unless it names an offset. */
export const timeSchema = z
  .string()
  .regex(TIME, TIME_PROBLEM)
  .transform((text) => (/[Z]$|T.*[+-]\d\d:\d\d$/.test(text) || !text.includes('T') ? text : `${text}Z`))
  .refine((text) => !Number.isNaN(Date.parse(text)), TIME_PROBLEM);
/** The month of a year. */
export const monthSchema = z.string().regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month, such as 2026-11');
const HOURS_MAX = 8 * 24;
const HOURS_PROBLEM = `must be a whole number of hours from 1 to ${HOURS_MAX}`;
/** Up to eight days. */
export const hoursSchema = z
  .union(
    [
      z.number(),
      z
        .string()
        .regex(/^\d{1,3}$/)
        .transform(Number),
    ],
    { error: HOURS_PROBLEM },
  )
  .refine((hours) => Number.isInteger(hours) && hours >= 1 && hours <= HOURS_MAX, HOURS_PROBLEM);
export const actorSchema = z.string().min(1, 'must be the name of an operator').max(60);

/** A column of a list, and the direction. */
export const sortSchema = <By extends string>(sorts: Readonly<Record<By, unknown>>) =>
  z
    .object({ by: z.enum(Object.keys(sorts) as [By, ...By[]]), isDescending: z.boolean().default(false) })
    .optional();
