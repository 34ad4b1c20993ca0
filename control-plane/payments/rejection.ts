// Why a payment is refused: with the challenge again while it is certain that no money moved, or for good.
import { ZodError } from 'zod';
import { caip2 } from '#shared/api/payment-networks.ts';
import { Refusal } from '../domain/refusal.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import { type Offer, priceText } from './offer.ts';
import type { KnownPayment } from './payment.ts';

interface Rejection {
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
  readonly reason: Rejection;
  /** The wrong field of the decoded header, if it is known. */
  readonly field: string | undefined;

  /** `meaning`: a sentence with the values of this payment, in place of the one of the code. */
  constructor(
    code: RejectionCode,
    { field, meaning, cause }: { field?: string | undefined; meaning?: string; cause?: unknown } = {},
  ) {
    super(code, { cause });
    this.code = code;
    this.reason = meaning === undefined ? REJECTIONS[code] : { ...REJECTIONS[code], meaning };
    this.field = field;
  }
}

/** The rejection of a header that its schema refuses, or that cannot be decoded. */
export function malformed(cause: unknown): PaymentRejected {
  const path = cause instanceof ZodError ? cause.issues[0]?.path.join('.') : undefined;
  return new PaymentRejected('invalid_encoding', { field: path === '' ? undefined : path, cause });
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

/** `network`: how the protocol of the payment names that of an offer. */
export function unsupportedNetwork(
  offers: readonly Offer[],
  network: (offer: Offer) => string | number,
  field?: string,
): PaymentRejected {
  const offered = [...new Set(offers.map(network))].join(', ');
  const { meaning } = REJECTIONS.unsupported_network;
  return new PaymentRejected('unsupported_network', { field, meaning: `${meaning} It offers ${offered}.` });
}

/** Names the domain of the offer, because a signature for another one cannot be distinguished from one by another key. */
export const notSigned = (
  from: string,
  { assetName, assetVersion, chainId, asset }: Offer,
): PaymentRejected =>
  new PaymentRejected('invalid_signature', {
    meaning: `The signature is not by ${from}, is malformed, or has a high s. Check the EIP-712 domain: name "${assetName}", version "${assetVersion}", chainId ${chainId}, verifyingContract ${asset}.`,
  });

const tooPoor = (from: string, offer: Offer): PaymentRejected =>
  new PaymentRejected('insufficient_funds', {
    meaning: `The wallet ${from} has less than the price, ${priceText(offer)}, on the network ${caip2(offer.chainId)}. The token is ${offer.asset}.`,
  });

// Revert reasons of Circle's FiatToken.
export function rejectionOf(
  reason: string,
  { from, offer }: { from: string; offer: Offer },
): PaymentRejected {
  if (/exceeds balance/i.test(reason)) return tooPoor(from, offer);
  if (/not yet valid/i.test(reason)) return new PaymentRejected('authorization_not_yet_valid');
  if (/expired/i.test(reason)) return new PaymentRejected('authorization_expired');
  if (/invalid signature/i.test(reason)) return notSigned(from, offer);
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
