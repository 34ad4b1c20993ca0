// Subscriptions: the list, one with its payments, another number, more days, and the end of one, with its refund.
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { shownValue } from '../../domain/shown-value.ts';
import { SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import { type Database, inTransaction } from '../../store/database/database.ts';
import { listPayments, paymentRowSchema } from '../../store/money/payment-list.ts';
import {
  endSubscription,
  endWithRefund,
  extendByDays,
  reassignNumber,
} from '../../store/money/subscription-changes.ts';
import {
  listSubscriptions,
  SUBSCRIPTION_SORTS,
  subscriptionRowSchema,
} from '../../store/money/subscription-list.ts';
import {
  plannedRefundSchema,
  planRefund,
  type RefundDecision,
} from '../../store/money/subscription-refunds.ts';
import {
  atomicSchema,
  carrierSchema,
  DAYS_MAX,
  decimalAmountSchema,
  findSchema,
  LIMIT_MAX,
  limitSchema,
  nodeSchema,
  numberSchema,
  paymentIdSchema,
  reasonSchema,
  sortSchema,
  subscriptionIdSchema,
  timeSchema,
  walletSchema,
} from './fields.ts';
import { pageOf, pageSchema, procedure } from './procedure.ts';
import { storeQuery } from './store-query.ts';

/** A wallet pays once a year. */
const SHARES_MAX = 100;

/** A plan that the operator was shown: refused if the subscription has changed since. */
const decisionSchema = z.object({
  expires_at: z.iso.datetime(),
  shares: z
    .array(z.object({ id: paymentIdSchema, value: atomicSchema }))
    .min(1)
    .max(SHARES_MAX),
});

const decisionOf = ({ expires_at, shares }: z.output<typeof decisionSchema>): RefundDecision => ({
  expires_at: new Date(expires_at),
  shares: shares.map(({ id, value }) => ({ id, value: BigInt(value) })),
});

const ofSubscription = z.object({ id: subscriptionIdSchema, number: numberSchema.optional() });
/** `expires_at`: the end that the operator saw. Refused if it is another one, so that a repetition changes nothing. */
const endSeen = z.object({ expires_at: z.iso.datetime().optional() });
const subject = ({ id }: z.output<typeof ofSubscription>): string => id;

/** With the end as a time. */
const seen = <T extends z.output<typeof endSeen>>({ expires_at: end, ...input }: T) => ({
  ...input,
  expires_at: end === undefined ? undefined : new Date(end),
});

/** "pay_0f…: 981.369863 USDC" */
async function decidedRefunds(db: Database, subscription: string, now: Date): Promise<string[]> {
  const payments = await listPayments(db, { subscription, limit: LIMIT_MAX }, now);
  return payments.flatMap(({ refund_value: value, ...payment }) =>
    value === null ? [] : [`${payment.id}: ${shownValue({ ...payment, value })}`],
  );
}

export const SUBSCRIPTION_PROCEDURES = {
  subscriptions: procedure({
    input: z.object({
      state: z.enum(SUBSCRIPTION_STATES).optional(),
      wallet: walletSchema.optional(),
      number: numberSchema.optional(),
      node: nodeSchema.optional(),
      carrier: carrierSchema.optional(),
      since: timeSchema.optional(),
      until: timeSchema.optional(),
      find: findSchema.optional(),
      sort: sortSchema(SUBSCRIPTION_SORTS),
      after: subscriptionIdSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(subscriptionRowSchema, z.string()),
    run: async ({ db, now }, query) =>
      pageOf(await listSubscriptions(db, storeQuery(query), now), query.limit, ({ id }) => id),
  }),
  subscription: procedure({
    input: z.object({ id: subscriptionIdSchema }),
    output: subscriptionRowSchema.extend({ payments: z.array(paymentRowSchema) }),
    async run({ db, now }, { id }) {
      const [row] = await listSubscriptions(db, { id, limit: 1 }, now);
      if (row === undefined) throw new OperatorRefusal(`There is no subscription ${id}.`);
      const payments = await listPayments(db, { subscription: id, limit: LIMIT_MAX }, now);
      return { ...row, payments };
    },
  }),
  /** Answers with the former number and the new one. */
  reassignNumber: procedure({
    input: ofSubscription.extend({ to: numberSchema.optional(), reason: reasonSchema }),
    output: z.object({ from: z.string(), to: z.string() }),
    run: ({ db, now }, input) => inTransaction(db, (trx) => reassignNumber(trx, { ...input, now })),
    audit: {
      how: 'change',
      subject,
      detail: ({ reason }, answer) => ({ reason, from: answer?.from, to: answer?.to }),
    },
    after: ({ subscriptionChanged }, { id }) => subscriptionChanged(id),
  }),
  /** Answers with the time at which it ends now. */
  extendSubscription: procedure({
    input: ofSubscription.extend({
      ...endSeen.shape,
      days: z.number().int().min(1).max(DAYS_MAX),
      reason: reasonSchema,
    }),
    output: z.object({ expires_at: timeOutput }),
    audit: { how: 'change', subject, detail: ({ days, reason }) => ({ days, reason }) },
    run: async ({ db, now }, input) => ({
      expires_at: await inTransaction(db, (trx) => extendByDays(trx, { ...seen(input), now })),
    }),
    after: ({ subscriptionChanged }, { id }) => subscriptionChanged(id),
  }),
  /** The refund of an end now: the unused share of the payments, or `amount`. */
  planRefund: procedure({
    input: ofSubscription.extend({ amount: decimalAmountSchema.optional() }),
    output: plannedRefundSchema,
    run: ({ db, now }, input) => planRefund(db, input, now),
  }),
  /** Answers with the time at which it ends now. `refund`: what the operator was shown, and what `payment refund` then sends. */
  endSubscription: procedure({
    input: ofSubscription.extend({
      ...endSeen.shape,
      reason: reasonSchema,
      refund: decisionSchema.optional(),
    }),
    output: z.object({ expires_at: timeOutput, refunds: z.array(z.string()) }),
    run: ({ db, now }, { reason, refund, ...target }) =>
      inTransaction(db, async (trx) => ({
        expires_at:
          refund === undefined
            ? await endSubscription(trx, seen(target), now)
            : await endWithRefund(trx, seen(target), decisionOf(refund), { reason, now }),
        refunds: refund === undefined ? [] : await decidedRefunds(trx, target.id, now),
      })),
    audit: {
      how: 'change',
      subject,
      detail: ({ reason, refund }, answer) => ({
        reason,
        ...(refund && {
          // A refused end has decided no refund.
          refund: answer?.refunds ?? refund.shares.map(({ id, value }) => `${id}: ${value} (smallest unit)`),
        }),
      }),
    },
    after: ({ subscriptionChanged }, { id }) => subscriptionChanged(id),
  }),
};
