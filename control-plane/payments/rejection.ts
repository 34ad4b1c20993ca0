// Why a payment is refused: with the challenge again while it is certain that no money moved, or for good.
import { ZodError } from 'zod';
import { caip2 } from '#shared/api/payment-networks.ts';
import { REJECTIONS, type Rejection, type RejectionCode } from '#shared/api/payment-rejections.ts';
import { Refusal } from '../domain/refusal.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import { type Offer, priceText } from './offer.ts';
import type { KnownPayment } from './payment.ts';

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
