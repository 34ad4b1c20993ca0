// Subscriptions: the list, and the end of one.
import * as z from 'zod';
import { SUBSCRIPTION_STATES } from '../../domain/subscription.ts';
import { endSubscription, listSubscriptions } from '../../store/money/subscription-list.ts';
import {
  limitSchema,
  nodeSchema,
  numberSchema,
  reasonSchema,
  subscriptionIdSchema,
  walletSchema,
} from './fields.ts';
import { pageOf, procedure } from './procedure.ts';

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
  /** Answers with the time at which it ends now. */
  endSubscription: procedure({
    input: z.object({ id: subscriptionIdSchema, reason: reasonSchema }),
    audit: { how: 'change', subject: ({ id }) => id, detail: ({ reason }) => ({ reason }) },
    run: async ({ db, now }, { id }) => ({ expires_at: await endSubscription(db, id, now) }),
    after: ({ subscriptionChanged }, { id }) => subscriptionChanged(id),
  }),
};
