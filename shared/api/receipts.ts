// Receipts: signed statements of what a subscription bought, sent, received and called, each with the hash of the one before.
import * as z from 'zod';
import { timeField } from './fields.ts';

/** JWS header `typ`: no other signature of the service can pass for a receipt (RFC 8725 §3.11). */
export const RECEIPT_TYPE = 'receipt+jwt';
/** Ed25519 (RFC 8037). */
export const RECEIPT_ALGORITHM = 'EdDSA';
export const KEYS_PATH = '/.well-known/jwks.json';

export const SEQUENCE_MAX = 2 ** 31 - 1;
const digestField = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256, hexadecimal');
const amountField = z.string().regex(/^\d{1,78}$/);

/** Base64url of a SHA-256. */
export const receiptHashSchema = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be the hash of a receipt');

/** Fields of every statement. */
const common = {
  /** Base URL of the service. */
  iss: z.string(),
  /** `sub_account_id`. */
  sub: z.string(),
  /** When it was signed: seconds since 1970. */
  iat: z.int().min(0),
  /** Counts up from 1 without a gap. */
  seq: z.int().min(1).max(SEQUENCE_MAX),
  /** Hash of the receipt before it; null for the first. */
  prev: receiptHashSchema.nullable(),
  /** When it happened. */
  at: timeField,
};

const payment = {
  payment_id: z.string(),
  /** CAIP-2. */
  network: z.string(),
  asset: z.string(),
  payer: z.string(),
  /** Smallest units. */
  amount: amountField,
  transaction: z.string().nullable(),
};

const text = {
  /** `id` in /sms/messages. */
  message: z.int().min(1),
  /** SHA-256 of `["<salt>","<from>","<to>","<text>"]`. */
  text_digest: digestField,
  /** SHA-256 of the salt, which is beside the receipt and not in it. */
  salt_digest: digestField,
};

/** The payload of a receipt. */
export const receiptStatementSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...common,
    kind: z.literal('sale'),
    ...payment,
    paid_from: timeField,
    paid_until: timeField,
  }),
  /** The chain took a payment back. */
  z.strictObject({ ...common, kind: z.literal('sale_reverted'), ...payment }),
  z.strictObject({ ...common, kind: z.literal('refund'), ...payment }),
  z.strictObject({ ...common, kind: z.literal('text_received'), ...text }),
  /** The carrier accepted it. */
  z.strictObject({ ...common, kind: z.literal('text_sent'), ...text, message_id: z.string() }),
  z.strictObject({
    ...common,
    kind: z.literal('call'),
    call_id: z.string(),
    direction: z.enum(['inbound', 'outbound']),
    started_at: timeField,
    answered_at: timeField.nullable(),
    duration_ms: z.int().min(0),
    reason: z.string(),
    cause: z.int(),
  }),
]);
export type ReceiptStatement = z.infer<typeof receiptStatementSchema>;
export type ReceiptKind = ReceiptStatement['kind'];

/** A receipt of GET /receipts. */
export const receiptSchema = z.object({
  sequence: z
    .int()
    .min(1)
    .max(SEQUENCE_MAX)
    .meta({ description: 'As in the receipt, from 1 without a gap.' }),
  jws: z.string().meta({ description: 'The signed statement: a compact JWS (RFC 7515, EdDSA).' }),
  salt: z.string().nullable().meta({
    description:
      'Opens `text_digest`. Null for a receipt that is not about a text, and once the text was deleted.',
  }),
});
export type Receipt = z.infer<typeof receiptSchema>;

/** GET /receipts. */
export const receiptsSchema = z.object({
  receipts: z.array(receiptSchema),
  has_more: z
    .boolean()
    .meta({ description: 'True if there are more. Ask again, with `after` of the last one.' }),
});

/** GET /.well-known/jwks.json. */
export const receiptKeysSchema = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string().meta({ description: 'Thumbprint of the key (RFC 7638).' }),
      alg: z.literal(RECEIPT_ALGORITHM),
      use: z.literal('sig'),
    }),
  ),
});
