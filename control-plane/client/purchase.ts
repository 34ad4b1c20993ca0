// Buys a year and never pays twice: one authorization is signed, and after an unclear answer only that one is sent again.
import { setTimeout as pause } from 'node:timers/promises';
import type { LocalAccount } from 'viem/accounts';
import { type AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { REFUSALS, type RefusalCode } from '#shared/api/refusals.ts';
import { ApiError, errorOfAnswer, isApiError } from './api-error.ts';
import type { Offer, SpendLimit } from './payments/offer.ts';
import { signPayment } from './payments/sign.ts';
import type { PaymentWay, SignedPayment } from './payments/signed-payment.ts';
import { answerOf, type Transport } from './transport.ts';

/** A settlement that takes longer is looked after by a person. */
const SETTLE_TIMEOUT_MS = 300_000;

/** Unless the service says how long. */
const ASK_AGAIN_MS = 2_000;

export interface PurchaseOptions extends SpendLimit {
  /** The number belongs to it: never pay with one that you will not keep. Signs only: it needs no gas and no chain. */
  account: LocalAccount;
  /** `x402-v1` where it is left out; all pay the same. */
  way?: PaymentWay;
  /** A payment of an earlier attempt whose end is not known: it is sent, and none is signed. */
  resume?: SignedPayment | undefined;
  /** Called before a payment is sent for the first time, and awaited: the place to keep it. */
  onSigned?: (payment: SignedPayment, offer: Offer) => void | Promise<void>;
  /** Called with the reason for the wait. */
  onWait?: (reason: ApiError) => void;
  /** Time to find out what became of a payment; five minutes where it is left out. */
  settleTimeoutMs?: number;
}

/** `recovered`: the payment had been taken before, and the token is of a signature; earlier tokens are revoked then. */
export type Purchase =
  | (AnswerOf<typeof OPERATION.subscribe> & { recovered: false })
  | (AnswerOf<typeof OPERATION.signIn> & { recovered: true });

/** All but these may have been said after the authorization was sent to the chain, or by a proxy that gave up. */
const movedNothing = ({ status, code }: ApiError): boolean =>
  status === 402 || (code in REFUSALS && (status < 500 || CHARGED_NOTHING.has(code)));

const CHARGED_NOTHING: ReadonlySet<string> = new Set<RefusalCode>([
  ...(['pool_exhausted', 'settlement_unavailable', 'overloaded', 'restarting'] as const),
]);

const isUnclear = (error: unknown): error is ApiError => error instanceof ApiError && !movedNothing(error);

/**
 * Throws `ApiError`: after a refusal by code nothing was paid; with `settlement_pending` it is not known yet, and the
 * same payment is to be resumed. Throws `NotPayableError` before anything was signed.
 */
export async function purchase(
  transport: Transport,
  options: PurchaseOptions,
  signIn: () => Promise<AnswerOf<typeof OPERATION.signIn>>,
): Promise<Purchase> {
  const payment = options.resume ?? (await signed(transport, options));
  const deadline = Date.now() + (options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS);
  let wasUnclear = options.resume !== undefined;
  for (;;) {
    try {
      const bought = await presented(transport, payment);
      if (bought !== undefined) return bought;
      // It has paid: the only token there is now is one for the wallet's signature.
      wasUnclear = true;
      return { ...(await signIn()), recovered: true };
    } catch (error) {
      // Once an attempt was unclear, a refusal for want of time or room says nothing of what that one has done.
      const waits = isUnclear(error) || (wasUnclear && isTransient(error));
      if (!waits) throw error;
      wasUnclear = true;
      options.onWait?.(error);
      const waitMs = error.retryAfterSeconds === undefined ? ASK_AGAIN_MS : error.retryAfterSeconds * 1000;
      if (Date.now() + waitMs >= deadline) throw stillPending(error);
      await pause(waitMs);
    }
  }
}

async function signed(
  transport: Transport,
  { account, way = 'x402-v1', onSigned, maxAmount, chainIds, assets }: PurchaseOptions,
): Promise<SignedPayment> {
  const challenge = await transport.ask(OPERATION.subscribe);
  if (challenge.status !== 402)
    throw errorOfAnswer(challenge.status, challenge.json, challenge.headers.get('retry-after'));
  const limit = { maxAmount, chainIds, assets };
  const { payment, offer } = await signPayment(challenge, { account, way, now: new Date(), ...limit });
  await onSigned?.(payment, offer);
  return payment;
}

/** Undefined when this payment was taken before. */
async function presented(
  transport: Transport,
  { header, value }: SignedPayment,
): Promise<Purchase | undefined> {
  const answer = await transport.ask(OPERATION.subscribe, { headers: { [header]: value } });
  try {
    return { ...answerOf(OPERATION.subscribe, answer), recovered: false };
  } catch (error) {
    if (isApiError(error, 'payment_already_used')) return undefined;
    throw error;
  }
}

const isTransient = (error: unknown): error is ApiError =>
  isApiError(error, 'rate_limited', 'settlement_unavailable', 'overloaded', 'restarting');

function stillPending(cause: ApiError): ApiError {
  return new ApiError({
    status: cause.status,
    code: 'settlement_pending',
    details: cause.details,
    cause,
    message: 'it is not known whether the payment has arrived: do not pay again, resume it or sign in later',
    retryAfterSeconds: cause.retryAfterSeconds,
  });
}
