// Moves the authorized money of one chain exactly once: submits, waits, applies. Finishes payments that a crash left behind.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import { type Block, endedUnused, LOG_KEPT_S, SEARCHED_S } from './chain/authorization-end.ts';
import type { Chain } from './chain/chain.ts';
import type { PricedCall } from './chain/simulation.ts';
import { type Applied, NumberMissing, type Payment, type PaymentLedger } from './payment.ts';
import { checkEach, ROUND_MAX, SETTLING_MARGIN_MS } from './round.ts';
import { refusalOf, type Submission, type Submitter } from './submitter.ts';

/** A claim older than this belongs to no live request: nothing was signed, so it can be released. */
const CLAIM_AGE_MS_MAX = 120_000;

/** A payment that was shown to a facilitator keeps its number for this long. */
const HANDED_OVER_MS_MAX = 5 * 60_000;

/** A used authorization keeps its number for this long after its end if the chain does not show the use. */
const NUMBER_HELD_S = 15n * 60n;

type SettlementResult =
  /** `transaction`: the one that moved the money. `isOurs`: as far as the chain shows, no third party sent it. */
  | { kind: 'applied'; applied: Applied; transaction: Hex; isOurs: boolean }
  /** Nothing was signed, and the claim is released. */
  | { kind: 'unsigned'; cause: unknown }
  /** It has moved nothing so far. The authorization is public: until it expires a third party may still send it. */
  | { kind: 'reverted' }
  /** The chain shows that it was used for something else, canceled or expired: it can never move money. */
  | { kind: 'void' }
  /** Not known yet; the reconciler will finish it. */
  | { kind: 'pending' };

/** `isInVain`: our transaction was mined and moved nothing, or a third party saw the authorization and did not settle it. */
type Settled = SettlementResult & { isInVain: boolean };

interface SettlementParts {
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
  async settle(payment: Payment, call: PricedCall): Promise<Settled> {
    const { chain, clock } = this.#parts;
    const startedAt = clock.now();
    const result = await this.#submitAndAwait(payment, call);
    const seconds = Math.max(0, clock.now() - startedAt) / 1000;
    emitMetric({ kind: 'settled', chainId: chain.chainId, result: result.kind, seconds });
    return result;
  }

  async #submitAndAwait(payment: Payment, call: PricedCall): Promise<Settled> {
    const { chain, ledger, log, settlementWaitMs, submitter } = this.#parts;
    let isInVain = false;
    try {
      const sent = await submitter
        .submit(payment, call)
        .catch(async (cause: unknown): Promise<Submission> => {
          // Still a claim: nothing was sent.
          if (await ledger.release(payment, 'signing failed', this.#now()))
            return { kind: 'unsigned', cause };
          throw cause;
        });
      if (sent.kind === 'unsigned') return { ...sent, isInVain };
      if (sent.kind === 'refused') return { kind: 'reverted', isInVain: true };
      isInVain = sent.kind === 'handed_over';
      if (sent.hash !== undefined) {
        const result = await chain.awaitResult(payment.authorization, sent.hash, settlementWaitMs);
        // Another mined transaction with its nonce is ours as well.
        if (result.kind === 'transferred') {
          isInVain = false;
          return { ...(await this.#apply(payment, result.transaction, true)), isInVain };
        }
        // A transaction that a facilitator names proves nothing if it does not pay.
        if (result.kind === 'reverted' && sent.kind === 'signed') {
          isInVain = true;
          return { ...(await this.#endReverted(payment, result.blockNumber)), isInVain };
        }
      }
      const used = await this.#resolveUse(payment, { ownHash: sent.hash });
      // Later payments wait behind ours, which may pay no more.
      void submitter.advance();
      return { ...(used ?? { kind: 'pending' }), isInVain: isInVain && used?.kind !== 'applied' };
    } catch (error) {
      log.warn({ err: error, payment: payment.id }, 'outcome of a payment still unknown');
    }
    return { kind: 'pending', isInVain };
  }

  /** Settles a payment in flight whose authorization is in a third party's transaction, mined or not. */
  async settleForeignTransfer(payment: Payment): Promise<SettlementResult> {
    return (await this.#resolveUse(payment)) ?? { kind: 'pending' };
  }

  /** Finishes every payment without a live request, and calls `onApplied` for each new year. An error of one payment does not reject it. */
  async reconcile(onApplied: (applied: Applied) => void): Promise<void> {
    const { chain, ledger, clock, settlementWaitMs, submitter } = this.#parts;
    await submitter.advance();
    const before = new Date(clock.now() - settlementWaitMs - SETTLING_MARGIN_MS);
    const unfinished = await ledger.unfinished(chain.chainId, { before, now: this.#now(), limit: ROUND_MAX });
    await checkEach(this.#parts, unfinished, async (payment) => {
      const result = await this.#finish(payment);
      if (result.kind === 'applied') onApplied(result.applied);
      // A claim must age: if each check were recorded it would never be old enough.
      if (result.kind === 'pending' && payment.state !== 'claimed')
        await ledger.noteCheck(payment.id, this.#now());
      if (result.kind === 'pending') return;
      this.#parts.log.info({ payment: payment.id, result: result.kind }, 'reconciled a payment');
      emitMetric({ kind: 'reconciled', chainId: chain.chainId, result: result.kind });
    });
  }

  async #finish(payment: Payment): Promise<SettlementResult> {
    const { chain, clock, ledger, submitter } = this.#parts;
    const { authorization } = payment;
    if (payment.state === 'claimed') {
      if (payment.updatedAt.getTime() > clock.now() - CLAIM_AGE_MS_MAX) return { kind: 'pending' };
      // A third party may have put it on the chain, and the request that knew may have died.
      if (!(await chain.isNonceUsed(authorization))) {
        await ledger.release(payment, 'abandoned before signing', this.#now());
        return { kind: 'unsigned', cause: undefined };
      }
      if (!(await ledger.setInFlight(payment.id, undefined, this.#now()))) return { kind: 'pending' };
      return this.settleForeignTransfer(payment);
    }
    // All reads are of one block: an authorization that is unused in a block after its end stays unused.
    const head = await chain.head();
    const overSinceS = head.timestamp - authorization.validBefore;
    const used = await this.#resolveUse(payment, { blockNumber: head.number, overSinceS });
    if (used !== undefined) return used.kind === 'pending' ? this.#searchOn(payment, overSinceS) : used;
    if (head.timestamp >= authorization.validBefore) return this.#endExpired(payment, head);
    if (payment.state === 'reverted') return { kind: 'pending' };
    // No other buyer's number waits for a facilitator, or for a payer whose code makes it reject each attempt.
    if (payment.transaction === undefined && clock.now() - payment.updatedAt.getTime() > HANDED_OVER_MS_MAX)
      await ledger.giveNumberBack(payment.id, 'the facilitator has not settled it', this.#now());
    // A token that rejected the transfer once may reject each repetition, and each costs gas.
    const refused = await refusalOf(chain, payment);
    if (refused !== undefined) return this.#endReverted(payment, refused.blockNumber);
    return (await submitter.push(payment)) ? { kind: 'pending' } : this.#submitAgain(payment);
  }

  /** The authorization was unused at its end. Until a safe block shows that, a reorganization can still put it into an earlier block. */
  async #endExpired(payment: Payment, head: Block): Promise<SettlementResult> {
    const { chain, ledger, submitter } = this.#parts;
    const why = 'expired before it was mined';
    await ledger.giveNumberBack(payment.id, why, this.#now());
    if (payment.state === 'in_flight') {
      if (await submitter.isWaiting(payment)) return { kind: 'pending' };
      // Mined in vain, it has cost gas; that counts against the payer.
      if (await refusalOf(chain, payment)) await ledger.setReverted(payment.id, why, this.#now());
    }
    const blocks = { head, safe: await chain.safeBlock() };
    if (!(await endedUnused(chain, payment.authorization, blocks))) return { kind: 'pending' };
    await ledger.setVoid(payment.id, why, this.#now());
    return { kind: 'void' };
  }

  /** The authorization was used, but the chain does not show how: the RPC lags, or the use is long past. */
  async #searchOn(payment: Payment, overSinceS: bigint): Promise<SettlementResult> {
    const { ledger, log } = this.#parts;
    if (overSinceS >= SEARCHED_S && overSinceS < LOG_KEPT_S) {
      log.error(
        { payment: payment.id },
        'payment ended: its authorization was used, but the RPC shows no transfer',
      );
      await ledger.setVoid(payment.id, 'authorization used, but no transfer found on the chain', this.#now());
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

  /** Submits again when no transaction of ours can be mined any more. */
  async #submitAgain(payment: Payment): Promise<SettlementResult> {
    const { chain, ledger, submitter } = this.#parts;
    const simulation = await chain.simulate(payment.authorization);
    if (simulation.kind === 'ok') {
      await submitter.submit(payment, simulation.call);
      return { kind: 'pending' };
    }
    // Used in a pending block.
    if (simulation.kind === 'reverted' && simulation.isUsed) return { kind: 'pending' };
    await ledger.setReverted(payment.id, 'the token would reject it now', this.#now());
    return { kind: 'reverted' };
  }

  async #endReverted(payment: Payment, blockNumber: bigint): Promise<SettlementResult> {
    const used = await this.#resolveUse(payment, { blockNumber });
    if (used !== undefined) return used;
    await this.#parts.ledger.setReverted(payment.id, undefined, this.#now());
    return { kind: 'reverted' };
  }

  /**
   * Acts on the use that the chain shows; undefined while the authorization is unused. Reads the state after `blockNumber` if that is
   * given. `ownHash`: the transaction that was sent for it. `overSinceS`: seconds since its end.
   */
  async #resolveUse(
    payment: Payment,
    {
      blockNumber,
      ownHash = payment.transaction?.hash,
      overSinceS = 0n,
    }: { blockNumber?: bigint; ownHash?: Hex | undefined; overSinceS?: bigint } = {},
  ): Promise<SettlementResult | undefined> {
    const { chain, ledger, log } = this.#parts;
    const { authorization, transferHash } = payment;
    // A receipt that pays is proof enough, even if the RPC's log does not show it.
    const known = transferHash ?? ownHash;
    const result = known && (await chain.resultOf(authorization, known));
    if (result?.kind === 'transferred') {
      return this.#apply(payment, result.transaction, result.transaction === ownHash);
    }
    if (!(await chain.isNonceUsed(authorization, blockNumber))) return undefined;
    const use = await chain.findUse(authorization, searchedS(overSinceS));
    if (use?.kind === 'paid') {
      return this.#apply(payment, use.transaction, use.isOurs || use.transaction === ownHash);
    }
    if (use === undefined) {
      log.warn(
        { payment: payment.id },
        'an authorization was used, but the RPC does not show by which transaction',
      );
      return { kind: 'pending' };
    }
    // A payer that cancels it before our transaction still costs gas; that counts against the payer.
    await ledger.setReverted(payment.id, undefined, this.#now());
    // A reorganization can still revert the other use, and ours be mined.
    if (use.blockNumber > (await chain.safeBlock()).number) return { kind: 'pending' };
    await ledger.setVoid(payment.id, `used for something else by ${use.transaction}`, this.#now());
    return { kind: 'void' };
  }

  async #apply(payment: Payment, transaction: Hex, isOurs: boolean): Promise<SettlementResult> {
    const { ledger, log } = this.#parts;
    const applied = await ledger.apply(payment.id, transaction, this.#now()).catch(async (cause: unknown) => {
      const failure =
        cause instanceof NumberMissing ? cause.message : 'the money arrived, but could not be applied';
      await ledger
        .noteUnapplied(payment.id, transaction, failure, this.#now())
        .catch((error: unknown) =>
          log.warn({ err: error, payment: payment.id }, 'recording that a payment bought nothing failed'),
        );
      throw cause;
    });
    if (applied === undefined) return { kind: 'pending' };
    return { kind: 'applied', applied, transaction, isOurs };
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}

const searchedS = (overSinceS: bigint): bigint =>
  overSinceS > 0n && overSinceS < LOG_KEPT_S ? overSinceS : 0n;
