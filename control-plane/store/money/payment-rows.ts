// Rows of payments: the key, and the open states.
import type { Selectable } from 'kysely';
import { type Address, getAddress, type Hex } from 'viem';
import type { TransferAuthorization } from '../../domain/transfer-authorization.ts';
import type { Payment, PaymentState, RelayedTransaction } from '../../payments/payment.ts';
import type { PaymentsTable } from '../database/payment-tables.ts';

/** The payment may still change. */
export const OPEN_STATES: readonly PaymentState[] = ['claimed', 'in_flight', 'reverted'];

export function keyOf(authorization: TransferAuthorization) {
  return {
    chain_id: authorization.chainId,
    asset: authorization.asset.toLowerCase(),
    payer: authorization.from.toLowerCase(),
    nonce: authorization.nonce.toLowerCase(),
  };
}

function transactionIn({
  raw_transaction: raw,
  transaction_hash: hash,
  transaction_nonce: nonce,
  transaction_sender: sender,
  transaction_is_empty: isEmpty,
}: Selectable<PaymentsTable>): RelayedTransaction | undefined {
  if (raw === null || hash === null || nonce === null || sender === null) return undefined;
  return { raw: raw as Hex, hash: hash as Hex, nonce, sender: getAddress(sender), isEmpty };
}

export function toPayment(row: Selectable<PaymentsTable>): Payment {
  return {
    id: row.id,
    state: row.state,
    updatedAt: row.updated_at,
    transferHash: (row.transfer_hash ?? undefined) as Hex | undefined,
    transaction: transactionIn(row),
    authorization: {
      chainId: row.chain_id,
      asset: getAddress(row.asset),
      from: getAddress(row.payer),
      to: getAddress(row.pay_to as Address),
      value: BigInt(row.value),
      validAfter: BigInt(row.valid_after),
      validBefore: BigInt(row.valid_before),
      nonce: row.nonce as Hex,
      signature: row.signature as Hex,
      signedBy: row.signed_by,
    },
  };
}
