// One paid POST /subscribe, from header to subscription. Every exit says whether money may have moved.
import type { Clock } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Chain, Simulation } from './chain.ts';
import type { Offer } from './offer.ts';
import type { Applied, ClaimResult, Payment, PaymentLedger, TransferAuthorization } from './payment.ts';
import { PaymentRejected } from './rejection.ts';
import type { Settlement } from './settlement.ts';
import { readPaymentHeader } from './x402.ts';

export interface CheckoutParts {
  offer: Offer;
  chain: Chain;
  ledger: PaymentLedger;
  settlement: Settlement;
  clock: Clock;
}

/** Seconds after which a payer whose settlement is open should ask `/auth`. */
const PENDING_RETRY_SECONDS = 10;

/**
 * Takes a payment and gives it its year.
 *
 * Throws `PaymentRejected` (402) only when no money moved by us; `Refusal` `pool_exhausted` before any
 * moves; `payment_already_used` for an authorization that was presented before; `settlement_pending`
 * once it may have moved: payers sign again on each 402, and would pay twice.
 */
export async function checkout(parts: CheckoutParts, header: string): Promise<Applied> {
  const now = (): Date => new Date(parts.clock.now());
  const authorization = await readPaymentHeader(header, parts.offer, now());
  const simulation = await simulate(parts.chain, authorization);
  const isUsed = simulation.kind === 'reverted' && isAuthorizationUsed(simulation.reason);
  if (simulation.kind === 'reverted' && !isUsed) throw rejectionOf(simulation.reason);

  const payment = claimed(await parts.ledger.claim(authorization, now()));
  if (simulation.kind === 'reverted') return settledByOthers(parts, payment);

  const result = await parts.settlement.settle(payment, simulation.gas).catch(async (cause: unknown) => {
    await parts.ledger.release(payment.id, 'could not be signed', now());
    throw unavailable(cause);
  });
  switch (result.kind) {
    case 'applied':
      return result.applied;
    case 'pending':
      throw pending();
    case 'released':
      if (result.reason === 'relayer_unfunded') throw unavailable(undefined);
      throw new PaymentRejected(
        result.reason === 'authorization_used' ? 'authorization_used' : 'transfer_refused',
      );
  }
}

async function simulate(chain: Chain, authorization: TransferAuthorization): Promise<Simulation> {
  try {
    return await chain.simulate(authorization);
  } catch (cause) {
    throw unavailable(cause);
  }
}

function claimed(claim: ClaimResult): Payment {
  switch (claim.kind) {
    case 'claimed':
      return claim.payment;
    case 'taken':
      throw claim.state === 'applied' ? alreadyUsed() : pending();
    case 'pool_exhausted':
      throw new Refusal('pool_exhausted', 'no number is free at the moment; nothing was charged', {
        details: { check_availability: '/availability', join_waitlist: '/waitlist', available: 0 },
      });
  }
}

// The authorization was on chain before it came to us, readable by everyone: the payer's subscription gets
// its year, but whoever presents it proves nothing and gets no token.
async function settledByOthers(parts: CheckoutParts, payment: Payment): Promise<never> {
  const isPaid = await parts.settlement.settleByOthers(payment).catch((cause: unknown) => {
    throw pending(cause);
  });
  throw isPaid ? alreadyUsed() : new PaymentRejected('authorization_used');
}

// Revert reasons of Circle's FiatToken.
const isAuthorizationUsed = (reason: string): boolean => /used or canceled/i.test(reason);

function rejectionOf(reason: string): PaymentRejected {
  if (/exceeds balance/i.test(reason)) return new PaymentRejected('insufficient_funds');
  if (/not yet valid/i.test(reason)) return new PaymentRejected('authorization_not_yet_valid');
  if (/expired/i.test(reason)) return new PaymentRejected('authorization_expired');
  if (/invalid signature/i.test(reason)) return new PaymentRejected('invalid_signature');
  return new PaymentRejected('transfer_refused', { cause: reason });
}

const alreadyUsed = (): Refusal =>
  new Refusal(
    'payment_already_used',
    'this authorization was used before; sign in with /auth to get a token',
  );

const pending = (cause?: unknown): Refusal =>
  new Refusal(
    'settlement_pending',
    'the payment is being settled; do not pay again, sign in with /auth in a few seconds',
    { cause, headers: { 'Retry-After': String(PENDING_RETRY_SECONDS) } },
  );

const unavailable = (cause: unknown): Refusal =>
  new Refusal('settlement_unavailable', 'payments cannot be settled at the moment; nothing was charged', {
    cause,
    headers: { 'Retry-After': String(PENDING_RETRY_SECONDS) },
  });
