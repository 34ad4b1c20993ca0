// Kysely types of the tables of receipts.
import type { ColumnType, Generated } from 'kysely';
import type { ReceiptKind } from '#shared/api/receipts.ts';

/** An Ed25519 key (RFC 8037). */
export interface PublicJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
}

interface ReceiptKeysTable {
  /** RFC 7638 thumbprint. */
  id: string;
  jwk: ColumnType<PublicJwk, string, never>;
  created_at: Date;
}

export interface ReceiptsTable {
  /** In the order in which events were stored. */
  position: Generated<number>;
  subscription_id: string;
  kind: ReceiptKind;
  /** Id of the payment, message or call. */
  subject: string;
  at: Date;
  /** The fields of the statement that its kind adds. */
  facts: Record<string, string | number | null>;
  /** Null until the event has its place in the chain. */
  sequence: number | null;
  jws: string | null;
  hash: string | null;
}

export interface ReceiptTables {
  receipt_keys: ReceiptKeysTable;
  receipts: ReceiptsTable;
}
