// Why a payment is answered with the challenge again. Thrown only while it is certain that no money moved.
import { Refusal } from '../domain/refusal.ts';

export type RejectionCode =
  | 'payment_required'
  | 'invalid_encoding'
  | 'unsupported_version'
  | 'unsupported_method'
  | 'unsupported_scheme'
  | 'unsupported_network'
  | 'unsupported_asset'
  | 'invalid_challenge'
  | 'invalid_domain'
  | 'invalid_payee'
  | 'invalid_amount'
  | 'invalid_signature'
  | 'authorization_not_yet_valid'
  | 'authorization_expired'
  | 'authorization_too_long'
  | 'authorization_used'
  | 'insufficient_funds'
  | 'payer_blocked'
  | 'asset_paused'
  | 'transfer_refused'
  | 'transfer_too_costly'
  | 'foreign_account';

/** Not 402: nothing is wrong with the payment. */
export const unavailable = (cause?: unknown): Refusal =>
  new Refusal('settlement_unavailable', 'payments cannot be settled at the moment; nothing was charged', {
    cause,
    headers: { 'Retry-After': String(UNAVAILABLE_RETRY_SECONDS) },
  });

const UNAVAILABLE_RETRY_SECONDS = 10;

export class PaymentRejected extends Error {
  override name = 'PaymentRejected';
  readonly code: RejectionCode;

  constructor(code: RejectionCode, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}
