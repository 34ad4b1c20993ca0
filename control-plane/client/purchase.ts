// Buys a year and never pays twice: it signs one authorization, and after an unclear response it only repeats that one.
import { OPERATION } from '#shared/api/operations.ts';
import { MOVED_NOTHING } from '#shared/api/payment-rejections.ts';
import { REFUSALS } from '#shared/api/refusals.ts';
import { sleep, systemClock } from '#shared/clock.ts';
import { ApiError, errorOfAnswer, isApiError } from './api-error.ts';
import type { Answer } from './api-types.ts';
import { type SignedPayment, signPayment } from './payments/sign.ts';
import type { Purchase, PurchaseOptions } from './purchase-options.ts';
import { answerOf, type Transport } from './transport.ts';

/** An operator handles a settlement that takes longer. */
const SETTLE_TIMEOUT_MS = 300_000;

/** Default, unless the service states a time. */
const ASK_AGAIN_MS = 2_000;

/** Proxies that want money themselves send some of the codes, but no `message`. */
const movedNothing = ({ status, code, message }: ApiError): boolean =>
  MOVED_NOTHING[code] === status && message !== code;

const isUnclear = (error: unknown): error is ApiError =>
  error instanceof ApiError && !movedNothing(error) && !isApiError(error, 'payment_already_used');

/**
 * Throws `ApiError`. After a refusal by code nothing was paid, with two exceptions. After `settlement_pending` it is not known: resume the same
 * payment. After `payment_already_used` the money of this payment has moved, and no subscription of the wallet is active. Throws
 * `NotPayableError` before anything was signed.
 */
export async function purchase(
  transport: Transport,
  options: PurchaseOptions,
  signIn: () => Promise<Answer<'signIn'>>,
): Promise<Purchase> {
  const payment = options.resume ?? (await signed(transport, options));
  const deadline = Date.now() + (options.settleTimeoutMs ?? SETTLE_TIMEOUT_MS);
  let wasUnclear = options.resume !== undefined;
  for (;;) {
    try {
      const bought = await presented(transport, payment);
      if (!(bought instanceof ApiError)) return bought;
      // It was paid: the only available token is one for the wallet's signature.
      wasUnclear = true;
      return { ...(await signedIn(signIn, bought)), recovered: true };
    } catch (error) {
      // After one unclear attempt, a refusal because of time or load proves nothing about that attempt.
      const waits = isUnclear(error) || (wasUnclear && isTransient(error));
      if (!waits) throw error;
      wasUnclear = true;
      options.onWait?.(error);
      const waitMs = error.retryAfterSeconds === undefined ? ASK_AGAIN_MS : error.retryAfterSeconds * 1000;
      if (Date.now() + waitMs >= deadline) throw stillPending(error);
      await sleep(systemClock, waitMs);
    }
  }
}

async function signed(
  transport: Transport,
  { account, protocol = 'x402-v1', onSigned, maxAmount, chainIds, assets }: PurchaseOptions,
): Promise<SignedPayment> {
  const challenge = await transport.ask(OPERATION.subscribe);
  if (challenge.status !== 402)
    throw errorOfAnswer(challenge.status, challenge.json, challenge.headers.get('retry-after'));
  const limit = { maxAmount, chainIds, assets };
  const { payment, offer } = await signPayment(challenge, { account, protocol, now: new Date(), ...limit });
  await onSigned?.(payment, offer);
  return payment;
}

/** The refusal `payment_already_used` when the service knows this payment. */
async function presented(
  transport: Transport,
  { header, value }: SignedPayment,
): Promise<Purchase | ApiError> {
  const answer = await transport.ask(OPERATION.subscribe, { headers: { [header]: value } });
  try {
    return { ...answerOf(OPERATION.subscribe, answer), recovered: false };
  } catch (error) {
    if (isApiError(error, 'payment_already_used')) return error;
    throw error;
  }
}

/**
 * No refusal of a sign-in is one of the payment: its money moved. After a 402, an operator has refunded or closed it, or its year is over.
 * Throws `used` then, whose message says which.
 */
async function signedIn(signIn: () => Promise<Answer<'signIn'>>, used: ApiError): Promise<Answer<'signIn'>> {
  try {
    return await signIn();
  } catch (error) {
    throw isApiError(error, 'no_active_subscription') ? used : error;
  }
}

const isTransient = (error: unknown): error is ApiError =>
  isApiError(error, 'rate_limited', 'settlement_unavailable', 'overloaded', 'restarting');

function stillPending(cause: ApiError): ApiError {
  return new ApiError({
    // Not that of the cause: a 402 would read as a refusal of the payment.
    status: cause.isNoAnswer ? cause.status : REFUSALS.settlement_pending.status,
    code: 'settlement_pending',
    details: cause.details,
    cause,
    message:
      'It is not known whether the payment has arrived. Do not pay again. Resume it, or sign in later.',
    retryAfterSeconds: cause.retryAfterSeconds,
  });
}
