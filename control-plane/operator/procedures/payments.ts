// Payments: the list, one with its history, and the end of one that can move no money.
import * as z from 'zod';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { PAYMENT_STATES } from '../../payments/payment.ts';
import { listPaymentEvents, paymentEventSchema } from '../../store/money/payment-events.ts';
import { findPaymentRow, listPayments, paymentRowSchema } from '../../store/money/payment-list.ts';
import { createPaymentLedger } from '../../store/money/payments.ts';
import { countRelayed, relayedPaymentsSchema } from '../../store/money/relayed-payments.ts';
import { limitSchema, paymentIdSchema, reasonSchema, walletSchema } from './fields.ts';
import { change, pageOf, pageSchema, procedure } from './procedure.ts';

export const PAYMENT_PROCEDURES = {
  payments: procedure({
    input: z.object({
      state: z.enum(PAYMENT_STATES).optional(),
      isStuck: z.boolean().optional(),
      wallet: walletSchema.optional(),
      after: paymentIdSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(paymentRowSchema, z.string()),
    run: async ({ db, now }, query) =>
      pageOf(await listPayments(db, query, now), query.limit, ({ id }) => id),
  }),
  payment: procedure({
    input: z.object({ id: paymentIdSchema }),
    output: paymentRowSchema.extend({ events: z.array(paymentEventSchema) }),
    async run({ db }, { id }) {
      const row = await findPaymentRow(db, id);
      if (row === undefined) throw new OperatorRefusal(`There is no payment ${id}.`);
      return { ...row, events: await listPaymentEvents(db, id) };
    },
  }),
  /** By the relayer that sent them: payments in flight, and applied ones that are not final. */
  relayedPayments: procedure({
    input: z.object({}),
    output: z.array(relayedPaymentsSchema),
    run: ({ db }) => countRelayed(db),
  }),
  /** `why`: what the chain shows. */
  voidPayment: change(z.object({ id: paymentIdSchema, why: reasonSchema }), {
    subject: ({ id }) => id,
    detail: ({ why }) => ({ why }),
    async run({ db, now }, { id, why }) {
      await createPaymentLedger(db).setVoid(id, why, now);
      const row = await findPaymentRow(db, id);
      if (row?.state !== 'void')
        throw new OperatorRefusal(`Nothing was done: ${id} is now ${row?.state ?? 'unknown'}.`);
    },
  }),
};
