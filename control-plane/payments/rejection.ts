// Why a request gets the payment challenge again. Thrown only while it is certain that no money moved.
import { Refusal } from '../domain/refusal.ts';

/** `error` of the 402: why a payment was rejected. Nothing was charged, and another authorization can pay. */
export const REJECTIONS = {
  payment_required: 'The request had no payment.',
  invalid_encoding: 'The payment is not in the encoding of its protocol, or a field is missing or malformed.',
  unsupported_version: 'The service does not offer this version of x402.',
  unsupported_method: 'The service does not offer this payment method.',
  unsupported_scheme: 'The service does not offer this scheme.',
  unsupported_network: 'The service does not offer this network.',
  unsupported_asset: 'The service does not offer this token.',
  invalid_challenge: 'MPP: the challenge is not from this service, or the authorization is not bound to it.',
  invalid_domain: 'The authorization was signed for another token or chain.',
  invalid_payee: 'The authorization pays another address than the offer names.',
  invalid_amount: 'The amount is not exactly the price.',
  invalid_signature: 'The signature is malformed, is not by the payer, or has a high s.',
  authorization_not_yet_valid: 'The authorization is not valid yet.',
  authorization_expired: 'The authorization has expired, or expires within 10 seconds.',
  authorization_too_long: 'The authorization is valid for more than a day.',
  authorization_used: 'The authorization was used elsewhere, or canceled.',
  insufficient_funds: 'The payer has too little of the token.',
  payer_blocked: 'The token blocks the payer.',
  asset_paused: 'The token is paused.',
  transfer_refused: 'The token rejects the transfer.',
  transfer_too_costly:
    'The account of the payer needs more gas than a transfer may use: 200,000, or 500,000 if it must be deployed first.',
  foreign_account:
    'The subscription of this wallet was bought with a key, or by an account on another network. Pay from there.',
} as const satisfies Record<string, string>;

type RejectionCode = keyof typeof REJECTIONS;

/** Not a 402: the payment itself is valid. */
export const unavailable = (cause?: unknown): Refusal =>
  new Refusal('settlement_unavailable', 'Payments cannot be settled at the moment. Nothing was charged.', {
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
