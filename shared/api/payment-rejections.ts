// Why a payment is refused, and after which refusals its money has not moved.
import { REFUSALS, type RefusalCode } from './refusals.ts';

export interface Rejection {
  meaning: string;
  /** The same in the standard vocabulary of x402 (specification 2, §9), which is coarser. Absent if x402 cannot have it. */
  x402?: string;
}

/** `error` of the 402: why a payment was rejected. Nothing was charged, and another authorization can pay. */
export const REJECTIONS = {
  payment_required: { meaning: 'The request had no payment.' },
  invalid_encoding: {
    meaning: 'The payment is not in the encoding of its protocol, or a field is missing or malformed.',
    x402: 'invalid_payload',
  },
  unsupported_version: {
    meaning: 'The service does not offer this version of x402.',
    x402: 'invalid_x402_version',
  },
  unsupported_method: { meaning: 'The service does not offer this payment method.' },
  unsupported_scheme: {
    meaning: 'The service does not offer this scheme.',
    x402: 'unsupported_scheme',
  },
  unsupported_network: { meaning: 'The service does not offer this network.', x402: 'invalid_network' },
  unsupported_asset: {
    meaning: 'The service does not offer this token.',
    x402: 'invalid_payment_requirements',
  },
  invalid_challenge: {
    meaning: 'MPP: the challenge is not from this service, or the authorization is not bound to it.',
  },
  invalid_domain: {
    meaning: 'The authorization was signed for another token or chain.',
    x402: 'invalid_payment_requirements',
  },
  invalid_payee: {
    meaning: 'The authorization pays another address than the offer names.',
    x402: 'invalid_exact_evm_payload_recipient_mismatch',
  },
  invalid_amount: {
    meaning: 'The amount is not exactly the price.',
    x402: 'invalid_exact_evm_payload_authorization_value',
  },
  invalid_signature: {
    meaning:
      'The signature is not by the payer, for instance because the chain id, token, name or version of its EIP-712 domain is wrong. Or it is malformed, or has a high s.',
    x402: 'invalid_exact_evm_payload_signature',
  },
  authorization_not_yet_valid: {
    meaning: 'The authorization is not valid yet.',
    x402: 'invalid_exact_evm_payload_authorization_valid_after',
  },
  authorization_expired: {
    meaning: 'The authorization has expired, or expires within 10 seconds.',
    x402: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  authorization_too_long: {
    meaning: 'The authorization is valid for more than a day.',
    x402: 'invalid_exact_evm_payload_authorization_valid_before',
  },
  authorization_used: {
    meaning: 'The authorization was used elsewhere, or canceled.',
    x402: 'invalid_transaction_state',
  },
  insufficient_funds: { meaning: 'The payer has too little of the token.', x402: 'insufficient_funds' },
  payer_blocked: { meaning: 'The token blocks the payer.', x402: 'invalid_transaction_state' },
  asset_paused: { meaning: 'The token is paused.', x402: 'invalid_transaction_state' },
  transfer_refused: { meaning: 'The token rejects the transfer.', x402: 'invalid_transaction_state' },
  transfer_too_costly: {
    meaning:
      'The account of the payer needs more gas than a transfer may use: 200,000, or 500,000 if it must be deployed first.',
    x402: 'invalid_transaction_state',
  },
  foreign_account: {
    meaning:
      'The subscription of this wallet was bought with a key, or by an account on another network. Pay from there.',
    x402: 'invalid_network',
  },
} as const satisfies Record<string, Rejection>;

export type RejectionCode = keyof typeof REJECTIONS;

const CHARGED_NOTHING = [
  'payment_identifier_reused',
  'paid_ahead',
  'rate_limited',
  'overloaded',
  'pool_exhausted',
  'restarting',
  'settlement_unavailable',
] as const satisfies RefusalCode[];

/**
 * The answers to a payment, as code and status, after which it has moved nothing. Others may come after it was sent to the chain, or not from
 * the service: a proxy that wants money itself answers `payment_required`, too.
 */
export const MOVED_NOTHING: Readonly<Record<string, number>> = Object.fromEntries([
  ...Object.keys(REJECTIONS).flatMap((code) => (code === 'payment_required' ? [] : [[code, 402]])),
  ...CHARGED_NOTHING.map((code) => [code, REFUSALS[code].status]),
]);
