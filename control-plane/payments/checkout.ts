// One paid POST /subscribe, from header to subscription. Every exit says whether money may have moved.
import type { Clock } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';
import { observe, type PaymentOutcome } from '../metrics/observation.ts';
import { checkWindow } from './authorization.ts';
import type { Chain, Simulation } from './chain.ts';
import { methodOf, type PaymentHeaders, readCredential } from './credential.ts';
import type { Sale } from './offer.ts';
import type {
  Applied,
  ClaimResult,
  Payment,
  PaymentLedger,
  PaymentState,
  TransferAuthorization,
} from './payment.ts';
import { receiptHeaders } from './receipt.ts';
import { PaymentRejected } from './rejection.ts';
import type { RelayerWallet } from './relayer-wallet.ts';
import type { Settlement } from './settlement.ts';

/** What moves the money of one chain. */
export interface Till {
  chain: Chain;
  settlement: Settlement;
  /** Of our own relayer, where it is one that settles. */
  wallet?: RelayerWallet;
}

export interface CheckoutParts {
  sale: Sale;
  /** By chain id; each offer of the sale has one. */
  tills: ReadonlyMap<number, Till>;
  ledger: PaymentLedger;
  clock: Clock;
}

/** A year that was paid for. */
export interface Paid extends Applied {
  /** Headers for the payer's client. */
  receipt: Record<string, string>;
}

/** Seconds after which a payer whose settlement is open should ask `/auth`. */
const PENDING_RETRY_SECONDS = 10;

/**
 * Takes a payment and gives it its year.
 *
 * Throws `PaymentRejected` (402) only when this authorization moved no money and never will, or never left this
 * process; `Refusal` `pool_exhausted` before any moves; `payment_already_used` for one that was on chain or presented before;
 * `settlement_pending` once it may have moved: payers sign again on each 402, and would pay twice.
 */
export async function checkout(parts: CheckoutParts, headers: PaymentHeaders): Promise<Paid> {
  const method = methodOf(headers);
  try {
    const paid = await pay(parts, headers);
    observe({ kind: 'payment_attempted', method, outcome: 'settled' });
    return paid;
  } catch (error) {
    if (method !== 'none') observe({ kind: 'payment_attempted', method, outcome: outcomeOf(error) });
    if (error instanceof PaymentRejected) observe({ kind: 'payment_refused', code: error.code });
    throw error;
  }
}

function outcomeOf(error: unknown): PaymentOutcome {
  if (error instanceof PaymentRejected) return 'rejected';
  if (!(error instanceof Refusal)) return 'failed';
  return OUTCOME_OF[error.code] ?? 'invalid';
}

const OUTCOME_OF: Readonly<Record<string, PaymentOutcome>> = {
  ...{ settlement_pending: 'pending', settlement_unavailable: 'unavailable' },
  ...{ payment_already_used: 'already_used', pool_exhausted: 'pool_exhausted', overloaded: 'unavailable' },
};

async function pay(parts: CheckoutParts, headers: PaymentHeaders): Promise<Paid> {
  const now = (): Date => new Date(parts.clock.now());
  const credential = await readCredential(headers, parts.sale);
  const { authorization } = credential;
  const { chain, settlement } = tillOf(parts, authorization);
  // What is known of it comes first: clock and chain say nothing of a payment that is under way.
  refuseKnown(await parts.ledger.find(authorization), authorization, now());
  checkWindow(authorization, now());
  const simulation = await simulate(chain, authorization);
  if (simulation.kind === 'reverted' && !simulation.isUsed) throw rejectionOf(simulation.reason);

  const payment = claimed(await parts.ledger.claim(authorization, now()), authorization, now());
  observe({ kind: 'payment_verified', method: methodOf(headers) });
  if (simulation.kind === 'reverted') return settledByOthers(settlement, payment);

  const result = await settlement.settle(payment, simulation.gas);
  switch (result.kind) {
    case 'applied':
      return { ...result.applied, receipt: receiptHeaders(credential, result.transaction, now()) };
    case 'pending':
      throw pending();
    case 'unsigned':
      throw unavailable(result.cause);
    case 'reverted':
      throw refusedOnChain(authorization, now());
    case 'void':
      throw new PaymentRejected('authorization_used');
  }
}

function tillOf({ tills }: CheckoutParts, { chainId }: TransferAuthorization): Till {
  const till = tills.get(chainId);
  if (till === undefined) throw new Error(`no chain ${chainId}`);
  return till;
}

function refuseKnown(state: PaymentState | undefined, authorization: TransferAuthorization, now: Date): void {
  switch (state) {
    case undefined:
    case 'released':
      return;
    case 'claimed':
    case 'in_flight':
      throw pending();
    case 'reverted':
      throw refusedOnChain(authorization, now);
    // Its transaction is public: whoever presents it again proves nothing.
    case 'applied':
      throw alreadyUsed();
    case 'refunding':
    case 'refunded':
      throw new Refusal('payment_already_used', 'this payment bought nothing and is sent back to its payer');
    case 'void':
      throw new PaymentRejected('authorization_used');
  }
}

async function simulate(chain: Chain, authorization: TransferAuthorization): Promise<Simulation> {
  try {
    return await chain.simulate(authorization);
  } catch (cause) {
    throw unavailable(cause);
  }
}

function claimed(claim: ClaimResult, authorization: TransferAuthorization, now: Date): Payment {
  switch (claim.kind) {
    case 'claimed':
      return claim.payment;
    case 'taken':
      refuseKnown(claim.state, authorization, now);
      throw pending();
    case 'pool_exhausted':
      throw new Refusal('pool_exhausted', 'no number is free at the moment; nothing was charged', {
        details: { check_availability: '/availability', join_waitlist: '/waitlist', available: 0 },
      });
  }
}

// The authorization was on chain before it came to us, readable by everyone: the payer's subscription gets
// its year, but whoever presents it proves nothing and gets no token.
async function settledByOthers(settlement: Settlement, payment: Payment): Promise<never> {
  const result = await settlement.settleByOthers(payment).catch((cause: unknown) => {
    throw pending(cause);
  });
  if (result.kind === 'applied') throw alreadyUsed();
  if (result.kind === 'void') throw new PaymentRejected('authorization_used');
  throw pending();
}

// Revert reasons of Circle's FiatToken.
function rejectionOf(reason: string): PaymentRejected {
  if (/exceeds balance/i.test(reason)) return new PaymentRejected('insufficient_funds');
  if (/not yet valid/i.test(reason)) return new PaymentRejected('authorization_not_yet_valid');
  if (/expired/i.test(reason)) return new PaymentRejected('authorization_expired');
  if (/invalid signature/i.test(reason)) return new PaymentRejected('invalid_signature');
  if (/blacklisted/i.test(reason)) return new PaymentRejected('payer_blocked');
  if (/paused/i.test(reason)) return new PaymentRejected('asset_paused');
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

// Not 402: the payer would sign another one while this one can still be sent by whoever read it.
function refusedOnChain({ validBefore }: TransferAuthorization, now: Date): Refusal {
  const expiresMs = Number(validBefore) * 1000;
  const waitSeconds = Math.max(PENDING_RETRY_SECONDS, Math.ceil((expiresMs - now.getTime()) / 1000));
  return new Refusal(
    'settlement_pending',
    `the token refused the transfer and nothing was charged; this authorization stays usable until ${new Date(expiresMs).toISOString()}: pay anew after that`,
    { headers: { 'Retry-After': String(waitSeconds) } },
  );
}

const unavailable = (cause: unknown): Refusal =>
  new Refusal('settlement_unavailable', 'payments cannot be settled at the moment; nothing was charged', {
    cause,
    headers: { 'Retry-After': String(PENDING_RETRY_SECONDS) },
  });
