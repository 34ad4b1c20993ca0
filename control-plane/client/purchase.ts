// Buys a year and never pays twice: it signs one authorization, and after an unclear response it only repeats that one.
import { setTimeout as pause } from 'node:timers/promises';
import type { LocalAccount } from 'viem/accounts';
import { type AnswerOf, OPERATION } from '#shared/api/operations.ts';
import { REFUSALS, type RefusalCode } from '#shared/api/refusals.ts';
import { ApiError, errorOfAnswer, isApiError } from './api-error.ts';
import type { Offer, SpendLimit } from './payments/offer.ts';
import { type PaymentWay, type SignedPayment, signPayment } from './payments/sign.ts';
import { answerOf, type Transport } from './transport.ts';

/** An operator handles a settlement that takes longer. */
const SETTLE_TIMEOUT_MS = 300_000;

/** Default, unless the service states a time. */
const ASK_AGAIN_MS = 2_000;

export interface PurchaseOptions extends SpendLimit {
  /** The number belongs to this account, so pay only with one that you keep. It only signs: it needs no gas and no chain. */
  account: LocalAccount;
  /** `x402-v1` by default; the price is the same for all. */
  way?: PaymentWay;
  /** A payment of an earlier attempt with an unknown outcome: it is sent instead of signing a new one. */
  resume?: SignedPayment | undefined;
  /** Called and awaited before a payment is first sent: store the payment here. */
  onSigned?: (payment: SignedPayment, offer: Offer) => void | Promise<void>;
  /** Called with the reason for the wait. */
  onWait?: (reason: ApiError) => void;
  /** Time to find the outcome of a payment; five minutes by default. */
  settleTimeoutMs?: number;
}

/** `recovered`: the payment had been applied before, so the token is from a signature. Earlier tokens are revoked then. */
export type Purchase =
  | (AnswerOf<typeof OPERATION.subscribe> & { recovered: false })
  | (AnswerOf<typeof OPERATION.signIn> & { recovered: true });

/** Any other refusal may come after the authorization was sent to the chain, or from a proxy that gave up. */
const movedNothing = ({ status, code }: ApiError): boolean =>
  status === 402 || (code in REFUSALS && (status < 500 || CHARGED_NOTHING.has(code)));

const CHARGED_NOTHING: ReadonlySet<string> = new Set<RefusalCode>([
  'pool_exhausted',
  'settlement_unavailable',
  'overloaded',
  'restarting',
]);

const isUnclear = (error: unknown): error is ApiError => error instanceof ApiError && !movedNothing(error);

/**
 * Throws `ApiError`. After a refusal by code nothing was paid. After `settlement_pending` it is not known: resume the same payment. Throws
 * `NotPayableError` before anything was signed.
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
      // It was paid: the only available token is one for the wallet's signature.
      wasUnclear = true;
      return { ...(await signIn()), recovered: true };
    } catch (error) {
      // After one unclear attempt, a refusal because of time or load proves nothing about that attempt.
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

/** Undefined when this payment was applied before. */
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
    message:
      'It is not known whether the payment has arrived. Do not pay again. Resume it, or sign in later.',
    retryAfterSeconds: cause.retryAfterSeconds,
  });
}
