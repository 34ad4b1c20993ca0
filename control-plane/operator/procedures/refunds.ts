// The ledger of refunds, for a command or a page that has the key: it stores a refund before the chain gets it.
import * as z from 'zod';
import { signedTransactionSchema } from '../../payments/payment.ts';
import { refundablePaymentSchema } from '../../payments/refund.ts';
import { createRefundLedger } from '../../store/money/refunds.ts';
import { paymentIdSchema, reasonSchema, transactionHashSchema, walletSchema } from './fields.ts';
import { type Context, change, procedure } from './procedure.ts';

const RAW_LENGTH_MAX = 4_096;
/** A token's reason may be long. */
const PROOF_LENGTH_MAX = 1_000;

const refundSchema = z.object({
  raw: z
    .string()
    .regex(/^0x([0-9a-f]{2})+$/)
    .max(RAW_LENGTH_MAX)
    .transform((text) => text as `0x${string}`),
  hash: transactionHashSchema,
  nonce: z.number().int().nonnegative(),
  sender: walletSchema.transform((text) => text as `0x${string}`),
});
const ofPayment = z.object({ id: paymentIdSchema });
const subject = ({ id }: z.output<typeof ofPayment>): string => id;

const ledgerOf = ({ db, now }: Context) => createRefundLedger(db, () => now);

export const REFUND_PROCEDURES = {
  refundable: procedure({
    input: ofPayment,
    output: refundablePaymentSchema,
    run: (context, { id }) => ledgerOf(context).find(id),
  }),
  startRefund: procedure({
    input: ofPayment.extend({
      refund: refundSchema,
      transferHash: transactionHashSchema,
      reason: reasonSchema,
    }),
    output: signedTransactionSchema,
    audit: {
      how: 'change',
      subject,
      detail: ({ reason, refund, transferHash }) => ({
        reason,
        hash: refund.hash,
        transfer_hash: transferHash,
      }),
    },
    run: (context, { id, refund, transferHash, reason }) =>
      ledgerOf(context).start(id, refund, transferHash, reason),
  }),
  replaceRefund: procedure({
    input: ofPayment.extend({ hash: transactionHashSchema, refund: refundSchema, reason: reasonSchema }),
    output: signedTransactionSchema,
    audit: {
      how: 'change',
      subject,
      detail: ({ reason, refund, hash }) => ({ reason, hash: refund.hash, replaced_hash: hash }),
    },
    run: (context, { id, hash, refund, reason }) => ledgerOf(context).replace(id, hash, refund, reason),
  }),
  adoptRefund: change(ofPayment.extend({ hash: transactionHashSchema, mined: transactionHashSchema }), {
    subject,
    detail: ({ hash, mined }) => ({ hash: mined, replaced_hash: hash }),
    run: (context, { id, hash, mined }) => ledgerOf(context).adopt(id, hash, mined),
  }),
  /** `proof`: what the chain shows. */
  closePayment: change(
    ofPayment.extend({
      hash: transactionHashSchema.nullable(),
      reason: reasonSchema,
      proof: z.string().min(1).max(PROOF_LENGTH_MAX),
    }),
    {
      subject,
      detail: ({ hash, reason, proof }) => ({ reason, proof, hash }),
      run: (context, { id, hash, reason, proof }) =>
        ledgerOf(context).close(id, hash ?? undefined, { reason, proof }),
    },
  ),
  endRefund: change(ofPayment.extend({ hash: transactionHashSchema }), {
    subject,
    detail: ({ hash }) => ({ hash }),
    run: (context, { id, hash }) => ledgerOf(context).end(id, hash),
  }),
};
