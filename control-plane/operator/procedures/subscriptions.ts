// Subscriptions: the list, another number, more days, and the end of one.
import * as z from 'zod';
import { SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import { inTransaction } from '../../store/database/database.ts';
import { endSubscription, extendByDays, reassignNumber } from '../../store/money/subscription-changes.ts';
import { listSubscriptions } from '../../store/money/subscription-list.ts';
import {
  limitSchema,
  nodeSchema,
  numberSchema,
  reasonSchema,
  subscriptionIdSchema,
  walletSchema,
} from './fields.ts';
import { pageOf, procedure } from './procedure.ts';

/** A goodwill of ten years is a mistake. */
export const DAYS_MAX = 3_650;

const ofSubscription = z.object({ id: subscriptionIdSchema, number: numberSchema.optional() });
const subject = ({ id }: z.output<typeof ofSubscription>): string => id;

export const SUBSCRIPTION_PROCEDURES = {
  subscriptions: procedure({
    input: z.object({
      state: z.enum(SUBSCRIPTION_STATES).optional(),
      wallet: walletSchema.optional(),
      number: numberSchema.optional(),
      node: nodeSchema.optional(),
      after: subscriptionIdSchema.optional(),
      limit: limitSchema,
    }),
    run: async ({ db, now }, query) =>
      pageOf(await listSubscriptions(db, query, now), query.limit, ({ id }) => id),
  }),
  /** Answers with the former number and the new one. */
  reassignNumber: procedure({
    input: ofSubscription.extend({ to: numberSchema.optional(), reason: reasonSchema }),
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
    input: ofSubscription.extend({ days: z.number().int().min(1).max(DAYS_MAX), reason: reasonSchema }),
    audit: { how: 'change', subject, detail: ({ days, reason }) => ({ days, reason }) },
    run: async ({ db, now }, input) => ({
      expires_at: await inTransaction(db, (trx) => extendByDays(trx, { ...input, now })),
    }),
    after: ({ subscriptionChanged }, { id }) => subscriptionChanged(id),
  }),
  /** Answers with the time at which it ends now. */
  endSubscription: procedure({
    input: ofSubscription.extend({ reason: reasonSchema }),
    audit: { how: 'change', subject, detail: ({ reason }) => ({ reason }) },
    run: async ({ db, now }, input) => ({ expires_at: await endSubscription(db, input, now) }),
    after: ({ subscriptionChanged }, { id }) => subscriptionChanged(id),
  }),
};
