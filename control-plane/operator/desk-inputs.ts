// The operator procedures and their inputs: checked wherever they come in, from a command or over the socket.
import * as z from 'zod';
import { E164_PATTERN } from '#shared/e164.ts';
import { slotNameSchema } from '#shared/link/messages.ts';
import { nodeNameSchema } from '#shared/link/node-name.ts';
import { NUMBER_STATES } from '../domain/number-state.ts';
import { SUBSCRIPTION_STATES } from '../domain/subscription.ts';
import { PAYMENT_STATES } from '../payments/payment.ts';
import { PROBE_RESULTS } from '../store/database/operation-tables.ts';

export const LIMIT_MAX = 1_000;
export const IMPORT_LINES_MAX = 10_000;
export const REASON_LENGTH_MAX = 200;

/** Printed one a line in terminals and logs. */
export const reasonSchema = z
  .string({ error: 'required: why, in a few words' })
  .trim()
  .min(1, 'must say why')
  .max(REASON_LENGTH_MAX, `must have at most ${REASON_LENGTH_MAX} characters`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must be one line of text');

export const numberSchema = z
  .string()
  .regex(E164_PATTERN, 'must be an E.164 number, for example +12065550123');
export const walletSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be a 0x-prefixed address of 20 bytes');
export const paymentIdSchema = z
  .string()
  .regex(/^pay_[0-9a-f]{24}$/, 'must be a payment, for example pay_0f…');
export const subscriptionIdSchema = z.string().regex(/^sub_[0-9a-f]{1,24}$/, 'must be a subscription');
export const transactionHashSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a transaction hash')
  .transform((text) => text.toLowerCase() as `0x${string}`);

export const nodeSchema = z.string({ error: 'must be the name of a node' }).pipe(nodeNameSchema);
/** As a node reports it. */
export const slotSchema = z
  .string({ error: 'must be the name of a slot' })
  .min(1, 'must be the name of a slot')
  .max(64, 'must have at most 64 characters')
  .pipe(slotNameSchema);
/** Of a person who may sign in to the console. */
export const operatorNameSchema = z
  .string({ error: 'must be the name of an operator' })
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,39}$/i,
    'may have letters, digits, dots, dashes and underscores only, 40 at most',
  );
export const fingerprintSchema = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be a fingerprint, SHA256: and 43 characters');
export const probeIdSchema = z
  .string()
  .regex(/^probe_[0-9a-f]{24}$/, 'must be a probe, for example probe_0f…');
export const PROBE_SPANS = ['hour', 'day', 'week'] as const;

const limit = z.number().int().min(1).max(LIMIT_MAX);
const hex = z.string().regex(/^0x([0-9a-f]{2})+$/);
const transaction = z.object({
  raw: hex.max(4_096).transform((text) => text as `0x${string}`),
  hash: transactionHashSchema,
  nonce: z.number().int().nonnegative(),
  sender: walletSchema.transform((text) => text as `0x${string}`),
});

/** By call; `createDesk` has what each does. */
export const DESK_INPUTS = {
  alerts: z.object({ isAll: z.boolean(), limit }),
  numbers: z.object({
    state: z.enum(NUMBER_STATES).optional(),
    number: numberSchema.optional(),
    after: numberSchema.optional(),
    limit,
  }),
  takeOutOfService: z.object({ number: numberSchema, reason: reasonSchema }),
  putInService: z.object({ number: numberSchema }),
  retire: z.object({ number: numberSchema }),
  releaseNumber: z.object({ number: numberSchema }),
  admitNumber: z.object({ number: numberSchema }),
  importNumbers: z.object({
    rows: z
      .array(
        z.object({
          line: z.number().int(),
          number: numberSchema,
          iccid: z.string().max(22),
          node: nodeSchema.optional(),
        }),
      )
      .min(1)
      .max(IMPORT_LINES_MAX),
  }),
  subscriptions: z.object({
    state: z.enum(SUBSCRIPTION_STATES).optional(),
    wallet: walletSchema.optional(),
    number: numberSchema.optional(),
    after: subscriptionIdSchema.optional(),
    limit,
  }),
  payments: z.object({
    state: z.enum(PAYMENT_STATES).optional(),
    isStuck: z.boolean().optional(),
    wallet: walletSchema.optional(),
    after: paymentIdSchema.optional(),
    limit,
  }),
  payment: z.object({ id: paymentIdSchema }),
  refundable: z.object({ id: paymentIdSchema }),
  /** `why`: what the chain shows. */
  voidPayment: z.object({ id: paymentIdSchema, why: reasonSchema }),
  endSubscription: z.object({ id: subscriptionIdSchema, reason: reasonSchema }),
  startRefund: z.object({
    id: paymentIdSchema,
    refund: transaction,
    transferHash: transactionHashSchema,
    reason: reasonSchema,
  }),
  replaceRefund: z.object({
    id: paymentIdSchema,
    hash: transactionHashSchema,
    refund: transaction,
    reason: reasonSchema,
  }),
  adoptRefund: z.object({
    id: paymentIdSchema,
    hash: transactionHashSchema,
    mined: transactionHashSchema,
  }),
  endRefund: z.object({ id: paymentIdSchema, hash: transactionHashSchema }),
  slots: z.object({
    node: nodeSchema.optional(),
    after: z.object({ node: nodeSchema, slot: slotSchema }).optional(),
    limit,
  }),
  takeSlotOutOfService: z.object({ node: nodeSchema, slot: slotSchema, reason: reasonSchema }),
  putSlotInService: z.object({ node: nodeSchema, slot: slotSchema }),
  /** Gives the SIM that the slot reports to its node. */
  transferSim: z.object({ node: nodeSchema, slot: slotSchema }),
  /** Refused while a call is up, unless by `force`. */
  restartModem: z.object({ node: nodeSchema, slot: slotSchema, force: z.boolean().default(false) }),
  revokeNode: z.object({ node: nodeSchema }),
  /** With `fingerprint`: only if that is the key's. */
  approveNode: z.object({ node: nodeSchema, fingerprint: fingerprintSchema.optional() }),
  /** With `inService`: refused where a number or its slot is out of service. */
  sendTest: z.object({ from: numberSchema, to: numberSchema, inService: z.boolean().default(false) }),
  probe: z.object({ id: probeIdSchema }),
  probes: z.object({
    node: nodeSchema.optional(),
    slot: slotSchema.optional(),
    result: z.enum(PROBE_RESULTS).optional(),
    after: z.number().int().positive().optional(),
    limit,
  }),
  probeSummary: z.object({ by: z.enum(['carrier', 'slot']), span: z.enum(PROBE_SPANS) }),
  auditLog: z.object({ after: z.number().int().positive().optional(), limit }),
  operators: z.object({}),
  addOperator: z.object({ name: operatorNameSchema }),
  removeOperator: z.object({ name: operatorNameSchema }),
} as const;

export type DeskCall = keyof typeof DESK_INPUTS;
export type DeskInput<C extends DeskCall> = z.output<(typeof DESK_INPUTS)[C]>;
/** The input before the check: optional fields may be left out. */
export type DeskQuestion<C extends DeskCall> = z.input<(typeof DESK_INPUTS)[C]>;
