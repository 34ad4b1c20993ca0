// Moves the authorized money exactly once: sign, store, broadcast, wait; and finishes what a crash left behind.
import { BaseError, InsufficientFundsError } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Chain } from './chain.ts';
import type { Applied, Payment, PaymentLedger } from './payment.ts';

/** A claim older than this belongs to no living request: nothing was signed, so it can be released. */
export const CLAIM_AGE_MS_MAX = 120_000;

/** After the wait of its request, a signed payment is left alone for this long. */
const SETTLING_MARGIN_MS = 10_000;

export type SettlementResult =
  | { kind: 'applied'; applied: Applied }
  /** The money did not move and never will by this claim. */
  | { kind: 'released'; reason: 'reverted' | 'authorization_used' | 'relayer_unfunded' }
  /** Nobody knows yet: the reconciler will. */
  | { kind: 'pending' };

export interface SettlementParts {
  chain: Chain;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  /** A payer waits this long for a block; after that the reconciler finishes the payment. */
  settlementWaitMs: number;
}

export class Settlement {
  readonly #parts: SettlementParts;
  // The relayer's nonces are taken one at a time (one process; several relayers are several processes).
  #signing: Promise<unknown> = Promise.resolve();

  constructor(parts: SettlementParts) {
    this.#parts = parts;
  }

  /** Settles a claimed payment. Rejects only when nothing was signed; the claim is then still there. */
  async settle(payment: Payment, gas: bigint): Promise<SettlementResult> {
    const { chain, log, settlementWaitMs } = this.#parts;
    const sent = await this.#inTurn(() => this.#signAndBroadcast(payment, gas));
    if (sent.kind !== 'sent') return sent;
    try {
      const result = await chain.awaitResult(payment.authorization, sent.hash, settlementWaitMs);
      if (result === 'transferred') return await this.#apply(payment);
      if (result === 'reverted') return await this.#settleReverted(payment);
    } catch (error) {
      log.warn({ err: error, payment: payment.id }, 'outcome of a settlement is not known yet');
    }
    return { kind: 'pending' };
  }

  /** The payer's money came by somebody else's transaction. True when it did, and was applied. */
  async settleByOthers(payment: Payment): Promise<boolean> {
    const result = await this.#settleReverted(payment);
    return result.kind === 'applied';
  }

  /** Finishes every payment that no request is working on. `applied` is told of each new year. */
  async reconcile(onApplied: (applied: Applied) => void): Promise<void> {
    const { ledger, clock, log, settlementWaitMs } = this.#parts;
    const untouchedSince = clock.now() - settlementWaitMs - SETTLING_MARGIN_MS;
    const unfinished = await ledger.unfinished(new Date(untouchedSince));
    for (const payment of unfinished) {
      try {
        const result = await this.#finish(payment);
        log.info({ payment: payment.id, result: result.kind }, 'reconciled a payment');
        if (result.kind === 'applied') onApplied(result.applied);
      } catch (error) {
        log.error({ err: error, payment: payment.id }, 'cannot reconcile a payment yet');
      }
    }
  }

  async #signAndBroadcast(
    payment: Payment,
    gas: bigint,
  ): Promise<SettlementResult | { kind: 'sent'; hash: `0x${string}` }> {
    const { chain, ledger, log } = this.#parts;
    const transaction = await chain.sign(payment.authorization, gas);
    if (!(await ledger.storeTransaction(payment.id, transaction, this.#now()))) return { kind: 'pending' };
    try {
      await chain.broadcast(transaction.raw);
    } catch (error) {
      if (isUnfunded(error)) {
        await ledger.release(payment.id, 'relayer_unfunded', this.#now());
        log.error({ relayer: chain.relayer }, 'the relayer cannot pay for gas');
        return { kind: 'released', reason: 'relayer_unfunded' };
      }
      // It may have reached the network all the same.
      log.warn({ err: error, payment: payment.id }, 'broadcast failed');
    }
    return { kind: 'sent', hash: transaction.hash };
  }

  async #finish(payment: Payment): Promise<SettlementResult> {
    const { chain, ledger, clock } = this.#parts;
    const { authorization, transaction } = payment;
    if (transaction === undefined) {
      if (payment.updatedAt.getTime() > clock.now() - CLAIM_AGE_MS_MAX) return { kind: 'pending' };
      await ledger.release(payment.id, 'abandoned before signing', this.#now());
      return { kind: 'released', reason: 'reverted' };
    }
    const result = await chain.resultOf(authorization, transaction.hash);
    if (result === 'transferred') return this.#apply(payment);
    if (result === 'reverted' || (await chain.isNonceUsed(authorization)))
      return this.#settleReverted(payment);
    if ((await chain.now()) >= authorization.validBefore) {
      await ledger.release(payment.id, 'expired before it was mined', this.#now());
      return { kind: 'released', reason: 'reverted' };
    }
    if ((await chain.minedNonce()) > transaction.nonce) {
      // Another transaction took its place: this one can never be mined.
      const simulation = await chain.simulate(authorization);
      if (simulation.kind === 'reverted') return this.#settleReverted(payment);
      await this.#inTurn(() => this.#signAndBroadcast(payment, simulation.gas));
    } else {
      await chain.broadcast(transaction.raw).catch(() => undefined);
    }
    return { kind: 'pending' };
  }

  async #settleReverted(payment: Payment): Promise<SettlementResult> {
    const { chain, ledger } = this.#parts;
    const isUsed = await chain.isNonceUsed(payment.authorization);
    if (isUsed && (await chain.hasTransferred(payment.authorization))) return this.#apply(payment);
    const reason = isUsed ? 'authorization_used' : 'reverted';
    await ledger.release(payment.id, reason, this.#now());
    return { kind: 'released', reason };
  }

  async #apply(payment: Payment): Promise<SettlementResult> {
    const applied = await this.#parts.ledger.apply(payment.id, this.#now());
    return applied === undefined ? { kind: 'pending' } : { kind: 'applied', applied };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#signing.then(work);
    this.#signing = result.catch(() => undefined);
    return result;
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}

function isUnfunded(error: unknown): boolean {
  return (
    error instanceof BaseError && error.walk((cause) => cause instanceof InsufficientFundsError) !== null
  );
}
