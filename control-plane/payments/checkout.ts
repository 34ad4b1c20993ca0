// One paid POST /subscribe, from header to subscription. Every outcome says whether money may have moved.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import { DatabaseUnavailable, Refusal } from '../domain/refusal.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import { emitMetric, type PaymentOutcome } from '../metrics/metric-events.ts';
import type { Admission } from './admission.ts';
import { firstAccepted, windowRejection } from './authorization.ts';
import type { Chain } from './chain/chain.ts';
import type { PricedCall, Simulation } from './chain/simulation.ts';
import {
  authorizationNamedIn,
  type Credential,
  methodOf,
  type PaymentHeaders,
  type PresentedCredential,
  readCredential,
  receiptHeaders,
} from './credential.ts';
import type { Finality } from './finality.ts';
import type { Offer, PaymentSigner, Sale } from './offer.ts';
import type { Applied, ClaimResult, Payment, PaymentLedger, RepeatedPayment } from './payment.ts';
import {
  alreadyUsed,
  PaymentRejected,
  PENDING_RETRY_SECONDS,
  pending,
  refusedOnChain,
  refuseKnown,
  rejectionOf,
  unavailable,
} from './rejection.ts';
import type { RelayerWallets } from './relayer-wallet.ts';
import type { Settlement } from './settlement.ts';

/** The parts that settle payments on one network. */
export interface SettlementNetwork {
  chain: Chain;
  settlement: Settlement;
  finality: Finality;
  /**
   * Queues for payments that need checks on the chain. Each network has its own: one that is slow delays only its payers. So have payers with a key and
   * those with an account: an account's code may take long.
   */
  admissions: Readonly<Record<TransferAuthorization['signedBy'], Admission>>;
  /** Queue for sign-ins that run the code of accounts. */
  signIns: Admission;
  /** Wallets of our relayers; undefined if a facilitator settles. */
  wallets?: RelayerWallets;
}

/** Which networks are open now. */
interface OpenNetworks {
  isOpen(chainId: number): boolean;
  readonly openOffers: readonly Offer[];
  /** Whether every configured token has been read, or is known from the options. */
  readonly areKnown: boolean;
}

export interface CheckoutParts {
  sale: Sale;
  signer: PaymentSigner;
  networks: OpenNetworks;
  /** By chain id; every offer of the sale has one. */
  settlementNetworks: ReadonlyMap<number, SettlementNetwork>;
  ledger: PaymentLedger;
  /** Queue for payments that need checks without the chain. */
  admission: Admission;
  clock: Clock;
  /** A subscription may be paid for at most this many years ahead. */
  paidAheadYearsMax: number;
}

/** The year that a payment bought. */
interface Paid extends Applied {
  /** Headers for the payer's client. */
  receipt: Record<string, string>;
  /** Undefined if the payer did not name the payment. */
  named: NamedPayment | undefined;
}

/** A payment that its payer can present again. */
interface NamedPayment {
  id: string;
  identifier: string;
  /** It was applied by an earlier request. */
  repeated?: Pick<RepeatedPayment, 'claimedAt' | 'isOurs'>;
}

/** A client that pays. */
export interface PayingClient {
  /** Network of its IP address: payments from one network wait behind each other. */
  network: string;
  refusedTransfers: RefusedTransfers;
}

/** The transfers of one client that were sent in vain: each costs the relayer gas, or reserves a number while a facilitator may still settle it. */
interface RefusedTransfers {
  /** Counts one, and resolves with a function that undoes the count. Throws `Refusal` `rate_limited` if there were too many lately. */
  count(): Promise<() => void>;
}

/** Seconds. Numbers become available when payments fail, or when SIMs return to the network. */
const POOL_RETRY_SECONDS = 60;

/**
 * Takes a payment and adds its year.
 *
 * Throws `PaymentRejected` (402) only if this authorization moved no money and never will, or never left this process: payers sign again on
 * each 402, and would pay twice. Throws `Refusal`: `pool_exhausted` before any money moves; `payment_already_used` if the authorization was
 * on chain or presented before; `settlement_pending` once money may have moved.
 */
export async function checkout(
  parts: CheckoutParts,
  headers: PaymentHeaders,
  client: PayingClient,
): Promise<Paid> {
  const method = methodOf(headers);
  try {
    const paid = await pay(parts, headers, client);
    const outcome = paid.named?.repeated === undefined ? 'settled' : 'already_used';
    emitMetric({ kind: 'payment_attempted', method, outcome });
    return paid;
  } catch (error) {
    if (method !== 'none') emitMetric({ kind: 'payment_attempted', method, outcome: outcomeOf(error) });
    if (error instanceof PaymentRejected) emitMetric({ kind: 'payment_refused', code: error.code });
    throw error;
  }
}

function outcomeOf(error: unknown): PaymentOutcome {
  if (error instanceof PaymentRejected) return 'rejected';
  if (error instanceof DatabaseUnavailable) return 'unavailable';
  if (!(error instanceof Refusal)) return 'failed';
  return OUTCOME_OF[error.code] ?? 'invalid';
}

const OUTCOME_OF: Readonly<Record<string, PaymentOutcome>> = {
  settlement_pending: 'pending',
  settlement_unavailable: 'unavailable',
  payment_already_used: 'already_used',
  pool_exhausted: 'pool_exhausted',
  overloaded: 'unavailable',
  paid_ahead: 'paid_ahead',
  rate_limited: 'refused_for_a_while',
};

async function pay(
  parts: CheckoutParts,
  headers: PaymentHeaders,
  { network, refusedTransfers }: PayingClient,
): Promise<Paid> {
  const now = (): Date => new Date(parts.clock.now());
  const found = await claimInTurn(parts, headers, { network, refusedTransfers });
  const { credential, payment } = found;
  const { authorization, identifier } = credential;
  const paid = async (applied: Applied, transaction: Hex, repeated?: RepeatedPayment): Promise<Paid> => ({
    ...applied,
    named:
      identifier === undefined ? undefined : { id: payment.id, identifier, ...(repeated && { repeated }) },
    receipt: receiptHeaders(credential, transaction, {
      now: now(),
      signed: await parts.signer.receipt(parts.sale, {
        chainId: credential.offer.chainId,
        payer: authorization.from,
        transaction,
      }),
    }),
  });
  if (found.kind === 'repeated') return paid(found.payment, found.payment.transferHash, found.payment);
  const result = await settlementNetworkOf(parts, authorization).settlement.settle(found.payment, found.call);
  if (!result.isInVain) found.giveBack();
  switch (result.kind) {
    case 'applied':
      // A third party sent the same transfer first, perhaps before it was presented here, which an RPC that lags does not show. That party
      // has read the authorization, and may be the one that presents it.
      if (!result.isOurs) throw alreadyUsed();
      return paid(result.applied, result.transaction);
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

type Claimed =
  /** Ready to be signed. */
  | { kind: 'claimed'; credential: Credential; payment: Payment; call: PricedCall; giveBack: () => void }
  /** Applied before, and presented again by the name that its payer gave it. */
  | { kind: 'repeated'; credential: Credential; payment: RepeatedPayment };

/** Checks the payment, each part in its turn, and claims its number. */
async function claimInTurn(
  parts: CheckoutParts,
  headers: PaymentHeaders,
  { network, refusedTransfers }: PayingClient,
): Promise<Claimed> {
  const read = (): Promise<PresentedCredential> =>
    unlessKnown(parts, headers, () => readCredential(headers, parts.sale));
  const presented = await (methodOf(headers) === 'none' ? read() : parts.admission.run([network], read));
  const [{ authorization }] = presented.payments;
  const { admissions } = settlementNetworkOf(parts, authorization);
  return admissions[authorization.signedBy].run([network], () =>
    claim(parts, headers, presented, refusedTransfers),
  );
}

async function claim(
  parts: CheckoutParts,
  headers: PaymentHeaders,
  { payments, ...form }: PresentedCredential,
  refusedTransfers: RefusedTransfers,
): Promise<Claimed> {
  const now = (): Date => new Date(parts.clock.now());
  const { settlementNetworks } = parts;
  const accepted = await unlessKnown(parts, headers, () =>
    firstAccepted(payments, (chainId) => settlementNetworks.get(chainId)?.chain.accounts),
  );
  const credential = { ...form, ...accepted };
  const { authorization, identifier } = credential;
  // The ledger decides first: the clock and the chain do not describe a payment that is under way.
  const known = await parts.ledger.find(authorization);
  if (known?.state === 'applied' && identifier !== undefined) {
    const payment = await parts.ledger.findRepeated(authorization, identifier);
    if (payment !== undefined && payment.subscription.expiresAt > now())
      return { kind: 'repeated', credential, payment };
  }
  refuseKnown(known, authorization, now());
  const rejection = windowRejection(authorization, now());
  if (rejection?.code === 'authorization_expired') await refuseIfUsed(parts, authorization);
  if (rejection !== undefined) throw rejection;
  if (!parts.networks.isOpen(authorization.chainId)) throw unavailable();
  const { call, runsCode } = await priceTransfer(parts, credential);

  // A payment counts while it is under way: parallel ones send no more in vain than serial ones.
  const giveBack = await refusedTransfers.count();
  try {
    const payment = await claimNumber(parts, credential, runsCode);
    emitMetric({ kind: 'payment_verified', method: methodOf(headers) });
    return { kind: 'claimed', credential, payment, call, giveBack };
  } catch (error) {
    giveBack();
    throw error;
  }
}

async function claimNumber(
  { ledger, clock, paidAheadYearsMax }: CheckoutParts,
  { authorization, identifier }: Credential,
  runsCode: boolean,
): Promise<Payment> {
  const now = (): Date => new Date(clock.now());
  const terms = { now: now(), yearsAheadMax: paidAheadYearsMax, runsCode, identifier };
  const claim = await ledger.claim(authorization, terms).catch(async (error: unknown) => {
    // Its commit may have arrived, and the answer been lost: the payer, who comes again, would find its own claim.
    const lost = { authorization, updatedAt: terms.now };
    await ledger.release(lost, 'the answer of the database was lost', now()).catch(() => undefined);
    throw error;
  });
  return claimed(claim, authorization, now());
}

/** Settles as `check` does. If it rejects a payment that was presented before, throws the refusal of that one. */
async function unlessKnown<T>(
  { clock, ledger, networks }: CheckoutParts,
  headers: PaymentHeaders,
  check: () => Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    // The offers, the challenge or the account's owners may have changed since it was presented first.
    const named = error instanceof PaymentRejected ? authorizationNamedIn(headers) : undefined;
    if (named !== undefined) refuseKnown(await ledger.findNamed(named), named, new Date(clock.now()));
    const mayBeUnreadToken = error instanceof PaymentRejected && error.code !== 'payment_required';
    if (!mayBeUnreadToken || networks.areKnown) throw error;
    // Its token may be one that could not be read since the start, and the payment may be under way already.
    throw new Refusal(
      'unavailable',
      'This payment cannot be verified at the moment. Send the same payment again. Do not sign another one.',
      { headers: { 'Retry-After': String(PENDING_RETRY_SECONDS) } },
    );
  }
}

function settlementNetworkOf(
  { settlementNetworks }: CheckoutParts,
  { chainId }: TransferAuthorization,
): SettlementNetwork {
  const network = settlementNetworks.get(chainId);
  if (network === undefined) throw new Error(`no chain ${chainId}`);
  return network;
}

/** An expired authorization may have moved the money before: only the chain shows that. Throws its refusal then. */
async function refuseIfUsed(parts: CheckoutParts, authorization: TransferAuthorization): Promise<void> {
  if (!parts.networks.isOpen(authorization.chainId)) throw pending();
  const { chain } = settlementNetworkOf(parts, authorization);
  const isUsed = await chain.isNonceUsed(authorization).catch((cause: unknown) => {
    throw pending(cause);
  });
  if (isUsed) await applyForeignTransfer(parts, authorization, new Date(parts.clock.now()));
}

/** Simulates the transfer. Throws its refusal if it would fail, or has been made already. */
async function priceTransfer(
  parts: CheckoutParts,
  { authorization, offer }: Pick<Credential, 'authorization' | 'offer'>,
): Promise<Simulation & { kind: 'ok' }> {
  const { chain } = settlementNetworkOf(parts, authorization);
  const simulation = await simulate(chain, authorization);
  if (simulation.kind === 'ok') return simulation;
  const now = (): Date => new Date(parts.clock.now());
  // Another request may have sent the same authorization meanwhile.
  refuseKnown(await parts.ledger.find(authorization), authorization, now());
  if (simulation.kind === 'too_costly') throw new PaymentRejected('transfer_too_costly');
  if (simulation.isUsed) return applyForeignTransfer(parts, authorization, now());
  throw rejectionOf(simulation.reason, { from: authorization.from, offer });
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
      refuseKnown(claim.known, authorization, now);
      throw pending();
    case 'identifier_reused':
      throw new Refusal(
        'payment_identifier_reused',
        'This wallet gave the same payment-identifier to another payment. Nothing was charged for this one. Present the other one again, or choose another identifier.',
      );
    case 'payer_busy':
      throw new Refusal(
        'settlement_pending',
        'Another payment of this wallet is still open. Nothing was charged for this one. Wait for Retry-After seconds, then call /auth before you pay again.',
        { headers: { 'Retry-After': String(claim.retryAfterSeconds) } },
      );
    case 'paid_ahead':
      throw new Refusal(
        'paid_ahead',
        `The subscription is paid until ${claim.expiresAt.toISOString()}. Nothing was charged. Pay again later; sign in with /auth for a token.`,
        { details: { expires_at: claim.expiresAt.toISOString() } },
      );
    case 'refused_for_a_while':
      throw new Refusal(
        'rate_limited',
        claim.isOfAll
          ? 'Payments from smart accounts are paused, because too many failed after they were sent. Nothing was charged. Wait for Retry-After seconds.'
          : 'The token refused the last transfers of this wallet after they were sent. Nothing was charged. Wait for Retry-After seconds.',
        { headers: { 'Retry-After': String(claim.retryAfterSeconds) } },
      );
    case 'foreign_account':
      throw new PaymentRejected('foreign_account');
    case 'pool_exhausted':
      throw new Refusal('pool_exhausted', 'No number is available at the moment. Nothing was charged.', {
        details: { check_availability: '/availability', join_waitlist: '/waitlist', available: 0 },
        headers: { 'Retry-After': String(POOL_RETRY_SECONDS) },
      });
  }
}

// The authorization was on chain, readable by everyone, before it was presented. The payer's subscription gets its year. The caller gets no
// token, because presenting it proves nothing. An authorization that was canceled or used for something else is not recorded.
async function applyForeignTransfer(
  parts: CheckoutParts,
  authorization: TransferAuthorization,
  now: Date,
): Promise<never> {
  const { chain, settlement } = settlementNetworkOf(parts, authorization);
  const use = await chain.findPresentedUse(authorization).catch((cause: unknown) => {
    throw pending(cause);
  });
  if (use === 'long_used') throw alreadyUsed();
  if (use?.kind === 'spent') throw new PaymentRejected('authorization_used');
  const payment = claimed(await parts.ledger.noteUsed(authorization, now), authorization, now);
  const result = await settlement.settleForeignTransfer(payment).catch((cause: unknown) => {
    throw pending(cause);
  });
  if (result.kind === 'applied') throw alreadyUsed();
  if (result.kind === 'void') throw new PaymentRejected('authorization_used');
  throw pending();
}
