// Checks applied payments until no reorganization can revert their transfers. A transfer that vanished is sent again while it can be. If it
// cannot return, its payment is marked.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Block, endedUnused, SEARCHED_S } from './chain/authorization-end.ts';
import type { Use } from './chain/authorization-use.ts';
import type { Chain } from './chain/chain.ts';
import type { Payment, PaymentLedger } from './payment.ts';
import { checkEach, ROUND_MAX } from './round.ts';
import { refusalOf, type Submitter } from './submitter.ts';

interface FinalityParts {
  chain: Chain;
  submitter: Submitter;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
}

export class Finality {
  readonly #parts: FinalityParts;

  constructor(parts: FinalityParts) {
    this.#parts = parts;
  }

  /** Checks the transfers that may still be reverted. Rejects when the RPC or the database cannot be reached. */
  async round(): Promise<void> {
    const { chain, ledger } = this.#parts;
    const payments = await ledger.notFinal(chain.chainId, { now: this.#now(), limit: ROUND_MAX });
    if (payments.length === 0) return;
    const blocks = { head: await chain.head(), safe: await chain.safeBlock() };
    await checkEach(this.#parts, payments, async (payment) => {
      if (!(await this.#check(payment, blocks))) await ledger.noteCheck(payment.id, this.#now());
    });
  }

  /** True once the transfer is final, or gone for good. */
  async #check(payment: Payment, { head, safe }: { head: Block; safe: Block }): Promise<boolean> {
    const { chain, ledger, log } = this.#parts;
    const { authorization, id } = payment;
    const use = await this.#useOf(payment);
    if (use !== undefined && use.blockNumber > safe.number) return false;
    if (use?.kind === 'paid') {
      await ledger.setFinal(id, use.transaction, this.#now());
      return true;
    }
    if (use?.kind === 'spent') return this.#setTakenBack(id);
    if (await chain.isNonceUsed(authorization, head.number)) {
      // A log that lags shows nothing either.
      if (head.timestamp < authorization.validBefore + SEARCHED_S) return false;
      log.error({ payment: id }, 'transfer not confirmed: the RPC returned neither its receipt nor its log');
      await ledger.setFinal(id, payment.transferHash, this.#now());
      return true;
    }
    if (head.timestamp < authorization.validBefore) {
      log.warn({ payment: id }, 'transfer reverted by a reorganization: sending it again');
      await this.#sendAgain(payment);
      return false;
    }
    return (await endedUnused(chain, authorization, { head, safe })) ? this.#setTakenBack(id) : false;
  }

  async #setTakenBack(id: string): Promise<true> {
    const { ledger, log } = this.#parts;
    log.error(
      { payment: id },
      'transfer permanently reverted by a reorganization: a subscription has an unpaid year',
    );
    await ledger.setTakenBack(id, 'a reorganization of the chain reverted the transfer', this.#now());
    return true;
  }

  /** The use of the authorization on the present chain. */
  async #useOf({ authorization, transferHash }: Payment): Promise<Omit<Use, 'isOurs'> | undefined> {
    const { chain } = this.#parts;
    const known = transferHash && (await chain.resultOf(authorization, transferHash));
    return known?.kind === 'transferred' ? { ...known, kind: 'paid' } : chain.findUse(authorization);
  }

  async #sendAgain(payment: Payment): Promise<void> {
    const { chain, submitter } = this.#parts;
    if (await refusalOf(chain, payment)) return;
    if (await submitter.push(payment)) return;
    const simulation = await chain.simulate(payment.authorization);
    if (simulation.kind === 'ok') await submitter.sendAgain(payment, simulation.call);
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
