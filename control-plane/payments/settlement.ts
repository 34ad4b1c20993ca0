// Moves the authorized money of one chain exactly once: submit, wait, apply; and finishes what a crash left behind.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Chain } from './chain.ts';
import { type Applied, NumberMissing, type Payment, type PaymentLedger } from './payment.ts';
import type { Submitter } from './submitter.ts';

/** A claim older than this belongs to no living request: nothing was signed, so it can be released. */
const CLAIM_AGE_MS_MAX = 120_000;

/** After the wait of its request, a payment in flight is left alone for this long. */
const SETTLING_MARGIN_MS = 10_000;

export type SettlementResult =
  /** `transaction`: the one that moved the money. */
  | { kind: 'applied'; applied: Applied; transaction: Hex }
  /** Nothing was signed, and the claim is released. */
  | { kind: 'unsigned'; cause: unknown }
  /** Our transaction was mined and moved nothing. */
  | { kind: 'reverted' }
  /** Used or cancelled without paying us, or expired: it can never move. */
  | { kind: 'void' }
  /** Nobody knows yet: the reconciler will. */
  | { kind: 'pending' };

export interface SettlementParts {
  chain: Chain;
  submitter: Submitter;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  /** A payer waits this long for a block; after that the reconciler finishes the payment. */
  settlementWaitMs: number;
}

export class Settlement {
  readonly #parts: SettlementParts;

  constructor(parts: SettlementParts) {
    this.#parts = parts;
  }

  /** Settles a claimed payment. Never rejects once something was signed. */
  async settle(payment: Payment, gas: bigint): Promise<SettlementResult> {
    const { chain, log, settlementWaitMs, submitter } = this.#parts;
    try {
      const sent = await submitter.submit(payment, gas);
      if (sent.kind === 'unsigned') return sent;
      if (sent.hash === undefined) return (await this.#settleUsed(payment)) ?? { kind: 'pending' };
      const result = await chain.awaitResult(payment.authorization, sent.hash, settlementWaitMs);
      if (result.kind === 'transferred') return await this.#apply(payment, sent.hash);
      if (result.kind === 'reverted') return await this.#settleReverted(payment, result.blockNumber);
    } catch (error) {
      log.warn({ err: error, payment: payment.id }, 'outcome of a settlement is not known yet');
    }
    return { kind: 'pending' };
  }

  /**
   * Settles a claimed payment whose authorization is in somebody else's transaction, mined or not yet.
   */
  async settleByOthers(payment: Payment): Promise<SettlementResult> {
    const isOurs = await this.#parts.ledger.setInFlight(payment.id, undefined, this.#now());
    if (!isOurs) return { kind: 'pending' };
    return (await this.#settleUsed(payment)) ?? { kind: 'pending' };
  }

  /** Finishes every payment that no request is working on. `onApplied` is told of each new year. */
  async reconcile(onApplied: (applied: Applied) => void): Promise<void> {
    const { chain, ledger, clock, log, settlementWaitMs } = this.#parts;
    const untouchedSince = clock.now() - settlementWaitMs - SETTLING_MARGIN_MS;
    const unfinished = await ledger.unfinished(chain.chainId, new Date(untouchedSince));
    for (const payment of unfinished) {
      try {
        const result = await this.#finish(payment);
        log.info({ payment: payment.id, result: result.kind }, 'reconciled a payment');
        if (result.kind === 'applied') onApplied(result.applied);
        if (result.kind === 'pending') await ledger.touch(payment.id, this.#now());
      } catch (error) {
        log.error({ err: error, payment: payment.id }, 'cannot reconcile a payment yet');
      }
    }
  }

  async #finish(payment: Payment): Promise<SettlementResult> {
    const { chain, clock, ledger, submitter } = this.#parts;
    if (payment.state === 'claimed') {
      if (payment.updatedAt.getTime() > clock.now() - CLAIM_AGE_MS_MAX) return { kind: 'pending' };
      // Somebody else may have put it on the chain, for which the request died that knew it.
      if (await chain.isNonceUsed(payment.authorization)) return this.settleByOthers(payment);
      await ledger.release(payment.id, 'abandoned before signing', this.#now());
      return { kind: 'unsigned', cause: undefined };
    }
    const { authorization } = payment;
    // The time is read before the use: what was not used when it had expired already never will be.
    const chainTime = await chain.now();
    const used = await this.#settleUsed(payment);
    if (used !== undefined) return used;
    if (chainTime >= authorization.validBefore) {
      await ledger.setVoid(payment.id, 'expired before it was mined', this.#now());
      return { kind: 'void' };
    }
    if (payment.state === 'reverted') return { kind: 'pending' };
    return (await submitter.push(payment)) ? { kind: 'pending' } : this.#submitAnew(payment);
  }

  /** Where there is no transaction of ours that could still be mined. */
  async #submitAnew(payment: Payment): Promise<SettlementResult> {
    const { chain, ledger, submitter } = this.#parts;
    const simulation = await chain.simulate(payment.authorization);
    if (simulation.kind === 'ok') {
      await submitter.submit(payment, simulation.gas);
      return { kind: 'pending' };
    }
    // Used in a block that is not mined yet.
    if (simulation.isUsed) return { kind: 'pending' };
    await ledger.setReverted(payment.id, this.#now());
    return { kind: 'reverted' };
  }

  async #settleReverted(payment: Payment, blockNumber: bigint): Promise<SettlementResult> {
    const used = await this.#settleUsed(payment, blockNumber);
    if (used !== undefined) return used;
    await this.#parts.ledger.setReverted(payment.id, this.#now());
    return { kind: 'reverted' };
  }

  /** What follows from the use of the authorization on chain; undefined while it is not used. */
  async #settleUsed(payment: Payment, blockNumber?: bigint): Promise<SettlementResult | undefined> {
    const { chain, ledger } = this.#parts;
    if (!(await chain.isNonceUsed(payment.authorization, blockNumber))) return undefined;
    // What was seen once is not searched again: the search goes back for a day.
    const transaction = payment.transferHash ?? (await chain.findTransfer(payment.authorization));
    if (transaction !== undefined) return this.#apply(payment, transaction);
    await ledger.setVoid(payment.id, 'used without paying us, or cancelled', this.#now());
    return { kind: 'void' };
  }

  async #apply(payment: Payment, transaction: Hex): Promise<SettlementResult> {
    const { ledger, log } = this.#parts;
    const applied = await ledger.apply(payment.id, transaction, this.#now()).catch(async (cause: unknown) => {
      const failure =
        cause instanceof NumberMissing ? cause.message : 'the money came and could not be applied';
      await ledger
        .noteUnapplied(payment.id, transaction, failure, this.#now())
        .catch((error: unknown) => log.warn({ err: error, payment: payment.id }, 'cannot note the money'));
      throw cause;
    });
    return applied === undefined ? { kind: 'pending' } : { kind: 'applied', applied, transaction };
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
