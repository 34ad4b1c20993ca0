// Kysely types of the tables of payments.
import type { ColumnType, Generated } from 'kysely';
import type { SignedBy } from '../../domain/transfer-authorization.ts';
import type { PaymentState } from '../../payments/payment.ts';

export interface PaymentsTable {
  id: string;
  chain_id: number;
  asset: string;
  payer: string;
  nonce: string;
  pay_to: string;
  value: string;
  valid_after: string;
  valid_before: string;
  signature: string;
  state: PaymentState;
  reserved_number: string | null;
  raw_transaction: string | null;
  transaction_hash: string | null;
  transaction_nonce: number | null;
  /** The relayer's account that signed the transaction, in lower case. */
  transaction_sender: ColumnType<string | null, string | null | undefined, string | null>;
  /** The transaction only uses its nonce: it is a transfer of nothing to its sender. */
  transaction_is_empty: Generated<boolean>;
  subscription_id: string | null;
  failure: string | null;
  /** The transaction that transferred the money, once it was seen on the chain. */
  transfer_hash: string | null;
  signed_by: ColumnType<SignedBy, SignedBy | undefined, SignedBy>;
  /** The transfer runs code of the payer's account. */
  runs_code: Generated<boolean>;
  identifier_hash: ColumnType<Buffer | null, Buffer | null | undefined, Buffer | null>;
  /** How often the reconciler found nothing new. */
  checks: ColumnType<number, number | undefined, number>;
  next_check_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** When the transfer became final: no reorganization can revert it. */
  final_at: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** The year that it bought; shortened when an operator ends the subscription. */
  paid_from: ColumnType<Date | null, Date | null | undefined, Date | null>;
  paid_until: ColumnType<Date | null, Date | null | undefined, Date | null>;
  /** Smallest units that go back, from the decision on. */
  refund_value: ColumnType<string | null, string | null | undefined, string | null>;
  /** The end of its subscription that is refunded; null for money that bought nothing. */
  refund_of_end: ColumnType<Date | null, Date | null | undefined, Date | null>;
  created_at: Date;
  updated_at: Date;
}

/** The history of payments, by id: the state after each change, and why. */
interface PaymentEventsTable {
  id: Generated<number>;
  payment_id: string;
  state: PaymentState;
  transaction_hash: string | null;
  why: string | null;
  at: Date;
}

/** The transaction that refunds a payment, stored before it is broadcast. */
export interface RefundsTable {
  payment_id: string;
  chain_id: number;
  sender: string;
  nonce: number;
  raw_transaction: string;
  transaction_hash: string;
  created_at: Date;
}

/** The last nonce of a relayer's wallet that an RPC has accepted; `taken_at` is null before the first. */
interface RelayerNoncesTable {
  chain_id: number;
  address: string;
  nonce: number;
  taken_at: Date | null;
}

export interface PaymentTables {
  payments: PaymentsTable;
  payment_events: PaymentEventsTable;
  refunds: RefundsTable;
  relayer_nonces: RelayerNoncesTable;
}
