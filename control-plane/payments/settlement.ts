// Moves the authorized money of one chain exactly once: submit, wait, apply; and finishes what a crash left behind.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { observe } from '../metrics/observation.ts';
import { type Block, endedUnused, SEARCHED_S } from './authorization-end.ts';
import type { Chain } from './chain/chain.ts';
import type { PricedCall } from './chain/simulation.ts';
import { type Applied, NumberMissing, type Payment, type PaymentLedger } from './payment.ts';
import { checkEach, ROUND_MAX } from './round.ts';
import { refusalOf, type Submitter } from './submitter.ts';

/** A claim older than this belongs to no living request: nothing was signed, so it can be released. */
const CLAIM_AGE_MS_MAX = 120_000;

/** What a facilitator was shown holds its number for so long. */
const HANDED_OVER_MS_MAX = 5 * 60_000;

/** After the wait of its request, a payment in flight is left alone for this long. */
const SETTLING_MARGIN_MS = 10_000;

/** So long after its end an authorization that was used, and the chain does not show by what, holds no number any more. */
const NUMBER_HELD_S = 15n * 60n;

export type SettlementResult =
  /** `transaction`: the one that moved the money. `isOurs`: nobody else sent it, as far as the chain shows. */
  | { kind: 'applied'; applied: Applied; transaction: Hex; isOurs: boolean }
  /** Nothing was signed, and the claim is released. */
  | { kind: 'unsigned'; cause: unknown }
  /** It moved nothing so far. The authorization is public: until it expires somebody else may still send it. */
  | { kind: 'reverted' }
  /** The chain shows that it was used for something else, cancelled or expired: it can never move. */
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
  async settle(payment: Payment, call: PricedCall): Promise<SettlementResult> {
    const { chain, clock } = this.#parts;
    const startedAt = clock.now();
    const result = await this.#settle(payment, call);
    const seconds = Math.max(0, clock.now() - startedAt) / 1000;
    observe({ kind: 'settled', chainId: chain.chainId, result: result.kind, seconds });
    return result;
  }

  async #settle(payment: Payment, call: PricedCall): Promise<SettlementResult> {
    const { chain, log, settlementWaitMs, submitter } = this.#parts;
    try {
      const sent = await submitter.submit(payment, call);
      if (sent.kind === 'unsigned') return sent;
      if (sent.kind === 'refused') return { kind: 'reverted' };
      if (sent.hash !== undefined) {
        const result = await chain.awaitResult(payment.authorization, sent.hash, settlementWaitMs);
        // Where another one with its nonce was mined, that is ours, too.
        if (result.kind === 'transferred') return await this.#apply(payment, result.transaction, true);
        // What somebody else names and does not pay says nothing of what they did.
        if (result.kind === 'reverted' && sent.kind === 'signed')
          return await this.#settleReverted(payment, result.blockNumber);
      }
      return (await this.#settleUsed(payment, undefined, sent.hash)) ?? { kind: 'pending' };
    } catch (error) {
      log.warn({ err: error, payment: payment.id }, 'outcome of a settlement is not known yet');
    }
    return { kind: 'pending' };
  }

  /** Settles a payment in flight whose authorization is in somebody else's transaction, mined or not yet. */
  async settleByOthers(payment: Payment): Promise<SettlementResult> {
    return (await this.#settleUsed(payment)) ?? { kind: 'pending' };
  }

  /** Finishes every payment that no request is working on, and reports each new year to `onApplied`. Never rejects for one payment. */
  async reconcile(onApplied: (applied: Applied) => void): Promise<void> {
    const { chain, ledger, clock, settlementWaitMs } = this.#parts;
    const before = new Date(clock.now() - settlementWaitMs - SETTLING_MARGIN_MS);
    const unfinished = await ledger.unfinished(chain.chainId, { before, now: this.#now(), limit: ROUND_MAX });
    await checkEach(this.#parts, unfinished, async (payment) => {
      const result = await this.#finish(payment);
      if (result.kind === 'applied') onApplied(result.applied);
      // A claim ages: checked each minute it would never be old enough.
      if (result.kind === 'pending' && payment.state !== 'claimed')
        await ledger.noteCheck(payment.id, this.#now());
      if (result.kind === 'pending') return;
      this.#parts.log.info({ payment: payment.id, result: result.kind }, 'reconciled a payment');
      observe({ kind: 'reconciled', chainId: chain.chainId, result: result.kind });
    });
  }

  async #finish(payment: Payment): Promise<SettlementResult> {
    const { chain, clock, ledger, submitter } = this.#parts;
    const { authorization } = payment;
    if (payment.state === 'claimed') {
      if (payment.updatedAt.getTime() > clock.now() - CLAIM_AGE_MS_MAX) return { kind: 'pending' };
      // Somebody else may have put it on the chain, for which the request died that knew it.
      if (!(await chain.isNonceUsed(authorization))) {
        await ledger.release(payment.id, 'abandoned before signing', this.#now());
        return { kind: 'unsigned', cause: undefined };
      }
      if (!(await ledger.setInFlight(payment.id, undefined, this.#now()))) return { kind: 'pending' };
      return this.settleByOthers(payment);
    }
    // Of one block: what is not used in a block that is late enough never will be.
    const head = await chain.head();
    const used = await this.#settleUsed(payment, head.number);
    if (used !== undefined) return used.kind === 'pending' ? this.#searchOn(payment, head.timestamp) : used;
    if (head.timestamp >= authorization.validBefore) return this.#settleExpired(payment, head);
    if (payment.state === 'reverted') return { kind: 'pending' };
    // Nobody else's number waits for a facilitator, nor for a payer whose code has it refuse each time.
    if (payment.transaction === undefined && clock.now() - payment.updatedAt.getTime() > HANDED_OVER_MS_MAX)
      await ledger.giveNumberBack(payment.id, 'the facilitator has not settled it', this.#now());
    // What the token has refused once it may refuse each time, and each time costs gas.
    const refused = await refusalOf(chain, payment);
    if (refused !== undefined) return this.#settleReverted(payment, refused.blockNumber);
    return (await submitter.push(payment)) ? { kind: 'pending' } : this.#submitAnew(payment);
  }

  /** Unused at its end; until a safe block shows that, a reorganisation can still put it into an earlier one. */
  async #settleExpired(payment: Payment, head: Block): Promise<SettlementResult> {
    const { chain, ledger } = this.#parts;
    const why = 'expired before it was mined';
    await ledger.giveNumberBack(payment.id, why, this.#now());
    const blocks = { head, safe: await chain.safeBlock() };
    if (!(await endedUnused(chain, payment.authorization, blocks))) return { kind: 'pending' };
    await ledger.setVoid(payment.id, why, this.#now());
    return { kind: 'void' };
  }

  /** The authorization was used, and the chain does not show by what: an RPC that lags, or one use that is long past. */
  async #searchOn(payment: Payment, timestamp: bigint): Promise<SettlementResult> {
    const { ledger, log } = this.#parts;
    const overSinceS = timestamp - payment.authorization.validBefore;
    if (overSinceS >= SEARCHED_S) {
      log.error(
        { payment: payment.id },
        'payment ended: its authorization was used, and the RPC shows no transfer',
      );
      await ledger.setVoid(payment.id, 'authorization used; no transfer found on the chain', this.#now());
      return { kind: 'void' };
    }
    if (overSinceS >= NUMBER_HELD_S) {
      await ledger.giveNumberBack(
        payment.id,
        'authorization used; no transfer found on the chain yet',
        this.#now(),
      );
    }
    return { kind: 'pending' };
  }

  /** Where there is no transaction of ours that could still be mined. */
  async #submitAnew(payment: Payment): Promise<SettlementResult> {
    const { chain, ledger, submitter } = this.#parts;
    const simulation = await chain.simulate(payment.authorization);
    if (simulation.kind === 'ok') {
      await submitter.submit(payment, simulation.call);
      return { kind: 'pending' };
    }
    // Used in a block that is not mined yet.
    if (simulation.kind === 'reverted' && simulation.isUsed) return { kind: 'pending' };
    await ledger.setReverted(payment.id, 'it would be refused now', this.#now());
    return { kind: 'reverted' };
  }

  async #settleReverted(payment: Payment, blockNumber: bigint): Promise<SettlementResult> {
    const used = await this.#settleUsed(payment, blockNumber);
    if (used !== undefined) return used;
    await this.#parts.ledger.setReverted(payment.id, undefined, this.#now());
    return { kind: 'reverted' };
  }

  /**
   * What follows from what the chain shows; undefined while the authorization is not used. Asked of the state after
   * `blockNumber`, where one is given. `ownHash`: of the transaction that was sent for it.
   */
  async #settleUsed(
    payment: Payment,
    blockNumber?: bigint,
    ownHash = payment.transaction?.hash,
  ): Promise<SettlementResult | undefined> {
    const { chain, ledger, log } = this.#parts;
    const { authorization, transferHash } = payment;
    // A receipt that pays is enough, whatever else the RPC does not find.
    const known = transferHash ?? ownHash;
    const result = known && (await chain.resultOf(authorization, known));
    if (result?.kind === 'transferred') {
      return this.#apply(payment, result.transaction, result.transaction === ownHash);
    }
    if (!(await chain.isNonceUsed(authorization, blockNumber))) return undefined;
    const use = await chain.findUse(authorization);
    if (use?.kind === 'paid') {
      return this.#apply(payment, use.transaction, use.isOurs || use.transaction === ownHash);
    }
    if (use === undefined) {
      log.warn({ payment: payment.id }, 'an authorization was used and the RPC does not show by what');
      return { kind: 'pending' };
    }
    // Where its payer has cancelled it in front of our transaction, that costs gas all the same, and counts against the payer.
    await ledger.setReverted(payment.id, undefined, this.#now());
    // A reorganisation can still take the other use back, and ours be mined.
    if (use.blockNumber > (await chain.safeBlock()).number) return { kind: 'pending' };
    await ledger.setVoid(payment.id, `used for something else by ${use.transaction}`, this.#now());
    return { kind: 'void' };
  }

  async #apply(payment: Payment, transaction: Hex, isOurs: boolean): Promise<SettlementResult> {
    const { ledger, log } = this.#parts;
    const applied = await ledger.apply(payment.id, transaction, this.#now()).catch(async (cause: unknown) => {
      const failure =
        cause instanceof NumberMissing ? cause.message : 'the money came and could not be applied';
      await ledger
        .noteUnapplied(payment.id, transaction, failure, this.#now())
        .catch((error: unknown) => log.warn({ err: error, payment: payment.id }, 'cannot note the money'));
      throw cause;
    });
    if (applied === undefined) return { kind: 'pending' };
    return { kind: 'applied', applied, transaction, isOurs };
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
