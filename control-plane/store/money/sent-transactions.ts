// The transactions that our relayers have sent for payments, by account and nonce.
import type { PaymentLedger, RelayedTransaction, SentPayment } from '../../payments/payment.ts';
import type { Database } from '../database/database.ts';
import { addPaymentEvent } from './payment-events.ts';
import { toPayment } from './payment-rows.ts';

export const transactionColumns = (transaction: RelayedTransaction | undefined) => ({
  raw_transaction: transaction?.raw ?? null,
  transaction_hash: transaction?.hash ?? null,
  transaction_nonce: transaction?.nonce ?? null,
  transaction_sender: transaction?.sender.toLowerCase() ?? null,
  transaction_is_empty: transaction?.isEmpty ?? false,
});

export const sentTransactions = (db: Database): Pick<PaymentLedger, 'sent' | 'replaceWithEmpty'> => ({
  async sent(chainId, { sender, nonceMin, limit }) {
    const rows = await db
      .selectFrom('payments')
      .selectAll()
      .where('chain_id', '=', chainId)
      .where('transaction_sender', '=', sender.toLowerCase())
      .where('transaction_nonce', '>=', nonceMin)
      .orderBy('transaction_nonce')
      .orderBy('created_at', 'desc')
      .limit(limit)
      .execute();
    return rows.flatMap((row): SentPayment[] => {
      const payment = toPayment(row);
      const { transaction } = payment;
      return transaction === undefined ? [] : [{ ...payment, transaction, isFinal: row.final_at !== null }];
    });
  },

  replaceWithEmpty: (id, replaced, empty, now) =>
    db.transaction().execute(async (trx) => {
      const row = await trx
        .updateTable('payments')
        .set(transactionColumns(empty))
        .where('id', '=', id)
        .where('transaction_hash', '=', replaced)
        .returning('state')
        .executeTakeFirst();
      if (row === undefined) return false;
      const why = 'an empty transaction in its place: later ones wait for its nonce';
      await addPaymentEvent(trx, id, { state: row.state, transactionHash: empty.hash, why, at: now });
      return true;
    }),
});
