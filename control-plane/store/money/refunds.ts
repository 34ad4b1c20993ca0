// Refunds in the database: one transaction per payment, stored before it may be broadcast.
import { sql } from 'kysely';
import { type Address, getAddress, type Hex } from 'viem';
import { OperatorRefusal } from '../../domain/refusal.ts';
import type { PaymentState } from '../../payments/payment.ts';
import type { RefundablePayment, RefundLedger } from '../../payments/refund.ts';
import type { RefundTransaction } from '../../payments/refund-wallet.ts';
import { type Database, type DatabaseTransaction, inTransaction } from '../database/database.ts';
import type { RefundsTable } from '../database/payment-tables.ts';
import { addPaymentEvent } from './payment-events.ts';

/** States in which the money may have arrived and bought nothing. */
const REFUNDABLE: ReadonlySet<PaymentState> = new Set(['in_flight', 'reverted', 'released', 'void']);

export function createRefundLedger(db: Database, clockNow: () => Date): RefundLedger {
  return {
    find: (id) => find(db, id),
    start: (id, refund, transferHash, reason) =>
      inTransaction(db, (trx) => start(trx, { id, refund, transferHash, reason, now: clockNow() })),
    replace: (id, hash, refund, reason) =>
      inTransaction(db, (trx) => replace(trx, { id, hash, refund, reason, now: clockNow() })),
    adopt: (id, hash, mined) => inTransaction(db, (trx) => adopt(trx, { id, hash, mined, now: clockNow() })),
    end: (id, hash) => inTransaction(db, (trx) => end(trx, id, hash, clockNow())),
    close: (id, hash, because) =>
      inTransaction(db, (trx) => close(trx, { id, hash, ...because, now: clockNow() })),
  };
}

async function find(db: Database, id: string): Promise<RefundablePayment> {
  const row = await db
    .selectFrom('payments')
    .select(['state', 'asset', 'payer', 'pay_to', 'value', 'refund_value', 'nonce', 'transfer_hash'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`There is no payment ${id}.`);
  const refund = await refundOf(db, id).executeTakeFirst();
  return {
    id,
    state: row.state,
    refund: refund && toTransaction(refund),
    refundBeganAtMs: refund?.created_at.getTime(),
    otherRefunds: await otherRefunds(db, id, row.payer),
    transferHash: (row.transfer_hash ?? undefined) as Hex | undefined,
    refundValue: BigInt(row.refund_value ?? row.value),
    transfer: {
      asset: getAddress(row.asset),
      from: getAddress(row.payer),
      to: getAddress(row.pay_to),
      value: BigInt(row.value),
      nonce: row.nonce as Hex,
    },
  };
}

async function start(
  trx: DatabaseTransaction,
  order: { id: string; refund: RefundTransaction; transferHash: Hex; reason: string; now: Date },
): Promise<RefundTransaction> {
  const { id, refund, transferHash, reason, now } = order;
  const payment = await lockPayment(trx, id);
  const stored = await refundOf(trx, id).executeTakeFirst();
  if (stored !== undefined) return toTransaction(stored);
  // Its end was the decision: only the transaction is missing.
  const isOrdered = payment.state === 'refunding' && payment.refund_of_end !== null;
  if (!isOrdered && !REFUNDABLE.has(payment.state))
    throw new OperatorRefusal(`No refund was sent: ${id} is now ${payment.state}.`);
  await refuseTakenNonce(trx, payment.chain_id, refund);
  await trx
    .insertInto('refunds')
    .values({ payment_id: id, chain_id: payment.chain_id, created_at: now, ...columnsOf(refund) })
    .execute();
  await trx
    .updateTable('payments')
    .set({
      state: 'refunding',
      reserved_number: null,
      updated_at: now,
      ...(isOrdered ? {} : { transfer_hash: transferHash, refund_value: payment.value, failure: reason }),
    })
    .where('id', '=', id)
    .execute();
  await addPaymentEvent(trx, id, { state: 'refunding', transactionHash: refund.hash, why: reason, at: now });
  return refund;
}

async function replace(
  trx: DatabaseTransaction,
  order: { id: string; hash: Hex; refund: RefundTransaction; reason: string; now: Date },
): Promise<RefundTransaction> {
  const { id, hash, refund, reason, now } = order;
  await refuseUnlessRefunding(trx, id);
  const row = await refundOf(trx, id).forUpdate().executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`${id} is not being refunded.`);
  // Another operator was faster.
  if (row.transaction_hash !== hash) return toTransaction(row);
  await refuseTakenNonce(trx, row.chain_id, refund);
  await trx.updateTable('refunds').set(columnsOf(refund)).where('payment_id', '=', id).execute();
  await addPaymentEvent(trx, id, { state: 'refunding', transactionHash: refund.hash, why: reason, at: now });
  return refund;
}

async function adopt(
  trx: DatabaseTransaction,
  { id, hash, mined, now }: { id: string; hash: Hex; mined: Hex; now: Date },
): Promise<void> {
  await refuseUnlessRefunding(trx, id);
  const row = await trx
    .updateTable('refunds')
    .set({ transaction_hash: mined })
    .where('payment_id', '=', id)
    .where('transaction_hash', '=', hash)
    .returning('payment_id')
    .executeTakeFirst();
  if (row === undefined) return;
  const why = 'mined in its place, with the same nonce';
  await addPaymentEvent(trx, id, { state: 'refunding', transactionHash: mined, why, at: now });
}

/** Until the transaction ends, no other one changes the payment. */
async function lockPayment(trx: DatabaseTransaction, id: string) {
  const payment = await trx
    .selectFrom('payments')
    .select(['chain_id', 'state', 'value', 'refund_value', 'refund_of_end', 'transfer_hash'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (payment === undefined) throw new OperatorRefusal(`There is no payment ${id}.`);
  return payment;
}

async function refuseUnlessRefunding(trx: DatabaseTransaction, id: string): Promise<void> {
  const { state } = await lockPayment(trx, id);
  if (state !== 'refunding') throw new OperatorRefusal(`No refund was sent: ${id} is now ${state}.`);
}

async function end(trx: DatabaseTransaction, id: string, hash: Hex, now: Date): Promise<void> {
  const ended = await trx
    .updateTable('payments')
    .set({ state: 'refunded', updated_at: now })
    .where('id', '=', id)
    .where('state', '=', 'refunding')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('refunds')
          .select('payment_id')
          .where('payment_id', '=', id)
          .where('transaction_hash', '=', hash),
      ),
    )
    .returning('id')
    .executeTakeFirst();
  if (ended === undefined) return;
  await addPaymentEvent(trx, id, { state: 'refunded', transactionHash: hash, why: null, at: now });
}

async function close(
  trx: DatabaseTransaction,
  order: { id: string; hash: Hex | undefined; reason: string; proof: string; now: Date },
): Promise<void> {
  const { id, hash, reason, proof, now } = order;
  const payment = await lockPayment(trx, id);
  const { state } = payment;
  // Another operator was faster.
  if (state === 'closed') return;
  const isUnspent = REFUNDABLE.has(state) && payment.transfer_hash !== null;
  if (state !== 'refunding' && !isUnspent)
    throw new OperatorRefusal(`Nothing was done: ${id} is now ${state}.`);
  if ((await refundOf(trx, id).executeTakeFirst())?.transaction_hash !== hash)
    throw new OperatorRefusal(`Nothing was done: ${id} has another refund now. Run the command again.`);
  await trx
    .updateTable('payments')
    .set({
      state: 'closed',
      reserved_number: null,
      // This share is not refunded.
      refund_value: payment.refund_value ?? payment.value,
      failure: reason,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
  const why = `${reason} (${proof})`;
  await addPaymentEvent(trx, id, { state: 'closed', transactionHash: hash ?? null, why, at: now });
}

// Two refunds signed at the same moment have the same nonce: only one could be mined.
async function refuseTakenNonce(
  trx: DatabaseTransaction,
  chainId: number,
  { nonce, sender }: RefundTransaction,
): Promise<void> {
  await sql`lock table refunds in share row exclusive mode`.execute(trx);
  const taken = await trx
    .selectFrom('refunds')
    .select('payment_id')
    .where('chain_id', '=', chainId)
    .where('sender', '=', sender.toLowerCase())
    .where('nonce', '=', nonce)
    .executeTakeFirst();
  if (taken === undefined) return;
  throw new OperatorRefusal(
    `The refund of ${taken.payment_id} has the next nonce of ${sender}. Finish that one, and run this again.`,
  );
}

const refundOf = (db: Database | DatabaseTransaction, id: string) =>
  db.selectFrom('refunds').selectAll().where('payment_id', '=', id);

async function otherRefunds(db: Database, id: string, payer: string): Promise<Hex[]> {
  const rows = await db
    .selectFrom('refunds')
    .innerJoin('payments', 'payments.id', 'refunds.payment_id')
    .select('refunds.transaction_hash')
    .where('payments.payer', '=', payer)
    .where('payments.id', '<>', id)
    .execute();
  return rows.map((row) => row.transaction_hash as Hex);
}

const columnsOf = ({ raw, hash, nonce, sender }: RefundTransaction) => ({
  sender: sender.toLowerCase(),
  nonce,
  raw_transaction: raw,
  transaction_hash: hash,
});

const toTransaction = (row: RefundsTable): RefundTransaction => ({
  raw: row.raw_transaction as Hex,
  hash: row.transaction_hash as Hex,
  nonce: row.nonce,
  sender: getAddress(row.sender as Address),
});
