// Why a payment is refused: with the challenge again while it is certain that no money moved, or for good.
import { Refusal } from '../domain/refusal.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import type { KnownPayment } from './payment.ts';

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

/** Seconds after which a payer with an unsettled payment should call `/auth`. */
export const PENDING_RETRY_SECONDS = 10;

/** Throws the refusal of a payment that was presented before; returns if it may be claimed. */
export function refuseKnown(
  known: KnownPayment | undefined,
  authorization: Pick<TransferAuthorization, 'validBefore'>,
  now: Date,
): void {
  switch (known?.state) {
    case undefined:
    case 'released':
      return;
    case 'claimed':
    case 'in_flight':
      throw pending();
    case 'reverted':
      // A third party that was shown it may be the one that presents it.
      throw known.isSigned ? refusedOnChain(authorization, now) : shownToOthers();
    // Its transaction is public: presenting it again proves nothing.
    case 'applied':
    case 'taken_back':
      throw alreadyUsed();
    case 'refunding':
    case 'refunded':
      throw new Refusal(
        'payment_already_used',
        'An operator has refunded this payment to its payer, or is about to.',
      );
    case 'closed':
      throw new Refusal(
        'payment_already_used',
        'An operator has closed this payment, because its money could not be refunded. Contact the service.',
      );
    case 'void':
      throw new PaymentRejected('authorization_used');
  }
}

// Revert reasons of Circle's FiatToken.
export function rejectionOf(reason: string): PaymentRejected {
  if (/exceeds balance/i.test(reason)) return new PaymentRejected('insufficient_funds');
  if (/not yet valid/i.test(reason)) return new PaymentRejected('authorization_not_yet_valid');
  if (/expired/i.test(reason)) return new PaymentRejected('authorization_expired');
  if (/invalid signature/i.test(reason)) return new PaymentRejected('invalid_signature');
  if (/blacklisted/i.test(reason)) return new PaymentRejected('payer_blocked');
  if (/paused/i.test(reason)) return new PaymentRejected('asset_paused');
  return new PaymentRejected('transfer_refused', { cause: reason });
}

/** The refusal of a payment that is presented again without a proof that the payer presents it. */
export const alreadyUsed = (): Refusal =>
  new Refusal(
    'payment_already_used',
    'This authorization was used before. Do not pay again. Sign in with /auth to get a token.',
  );

const shownToOthers = (): Refusal =>
  new Refusal(
    'payment_already_used',
    'A third party may have this authorization, so you cannot get a token with it. Call /auth to learn when you can pay again.',
  );

export const pending = (cause?: unknown): Refusal =>
  new Refusal(
    'settlement_pending',
    'The payment is in progress. Do not pay again. Sign in with /auth in a few seconds.',
    { cause, headers: { 'Retry-After': String(PENDING_RETRY_SECONDS) } },
  );

// Not a 402: the payer would sign another authorization while third parties can still submit this one.
export function refusedOnChain(
  { validBefore }: Pick<TransferAuthorization, 'validBefore'>,
  now: Date,
): Refusal {
  const expiresMs = Number(validBefore) * 1000;
  const waitSeconds = Math.max(PENDING_RETRY_SECONDS, Math.ceil((expiresMs - now.getTime()) / 1000));
  return new Refusal(
    'settlement_pending',
    `The transfer was refused and nothing was charged. Anyone can still submit this authorization until ${new Date(expiresMs).toISOString()}. Sign a new payment after that.`,
    { headers: { 'Retry-After': String(waitSeconds) } },
  );
}
