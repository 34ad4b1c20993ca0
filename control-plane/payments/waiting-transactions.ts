// Transactions of our relayers that wait for a block. All later ones of an account wait behind them, so none may wait for good: one whose
// payment may still pay gets a higher fee, and any other an empty transaction in its place.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Chain } from './chain/chain.ts';
import type { PaymentLedger, RelayedTransaction, SentPayment } from './payment.ts';
import { RelayerUnfunded, type RelayerWallet, type RelayerWallets } from './relayer-wallet.ts';
import { SETTLING_MARGIN_MS } from './round.ts';

/** Transactions of each account in one round. The next round continues. */
const WAITING_MAX = 100;

interface WaitingParts {
  chain: Chain;
  wallets: RelayerWallets;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  /** A payment in flight belongs to its request for this long. */
  settlementWaitMs: number;
  /** Advances a payment that may still pay. */
  push(payment: SentPayment): Promise<boolean>;
}

export class WaitingTransactions {
  readonly #parts: WaitingParts;
  #round: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(parts: WaitingParts) {
    this.#parts = parts;
  }

  /** Advances all that wait: one round at a time, and one more for all who call meanwhile. Never rejects. */
  advance(): Promise<void> {
    this.#next ??= this.#round.then(() => {
      this.#next = undefined;
      this.#round = this.#advanceAll();
      return this.#round;
    });
    return this.#next;
  }

  /** Advances all that wait if a block lacks an earlier transaction of the account. Never rejects. */
  async advanceBefore({ nonce, sender }: RelayedTransaction): Promise<void> {
    const { chain, log } = this.#parts;
    try {
      if ((await chain.minedNonceOf(sender)) < nonce) await this.advance();
    } catch (error) {
      log.warn({ err: error }, 'transactions that wait for a block not checked: the RPC failed');
    }
  }

  async #advanceAll(): Promise<void> {
    const { log, wallets } = this.#parts;
    for (const wallet of [wallets.present, ...wallets.former]) {
      try {
        await this.#advanceOf(wallet);
      } catch (error) {
        log.warn({ err: error, relayer: wallet.address }, 'transactions that wait for a block not advanced');
      }
    }
  }

  async #advanceOf(wallet: RelayerWallet): Promise<void> {
    const { chain, ledger } = this.#parts;
    const { address: sender } = wallet;
    const nonceMin = await chain.minedNonceOf(sender);
    const sent = await ledger.sent(chain.chainId, { sender, nonceMin, limit: WAITING_MAX });
    if (sent.length === 0) return;
    const { timestamp } = await chain.head();
    const nonceMax = Math.max(
      (await chain.nextNonceOf(sender)) - 1,
      ...sent.filter((payment) => mayPay(payment, timestamp)).map(({ transaction }) => transaction.nonce),
    );
    // The network has forgotten later ones: the next transaction takes their nonce.
    const waiting = sent.filter(({ transaction }) => transaction.nonce <= nonceMax);
    for (const payments of byNonce(waiting)) await this.#advanceOne(payments, { wallet, timestamp });
  }

  /** `payments`: those whose transactions have one nonce, the newest first. The network had forgotten the older ones. */
  async #advanceOne(
    payments: readonly [SentPayment, ...SentPayment[]],
    { wallet, timestamp }: { wallet: RelayerWallet; timestamp: bigint },
  ): Promise<void> {
    const { chain, clock, push, settlementWaitMs } = this.#parts;
    const paying = payments.find((payment) => mayPay(payment, timestamp));
    if (paying === undefined) return this.#empty(payments[0], wallet);
    if (await chain.isNonceUsed(paying.authorization)) {
      // Ours may be the use, and a node that lags does not show its receipt. The next round asks again.
      const use = await chain.findUse(paying.authorization);
      if (use === undefined || use.transaction === paying.transaction.hash) return;
      if (use.kind === 'paid' && use.isOurs) return;
      // Its payer has canceled it, or sent it himself: ours would be mined in vain.
      return this.#empty(paying, wallet);
    }
    const requestEndsAtMs = paying.updatedAt.getTime() + settlementWaitMs + SETTLING_MARGIN_MS;
    if (paying.state === 'in_flight' && clock.now() < requestEndsAtMs) return;
    await push(paying);
  }

  async #empty(
    { id, authorization, state, transaction, transferHash }: SentPayment,
    wallet: RelayerWallet,
  ): Promise<void> {
    const { chain, clock, ledger, log } = this.#parts;
    // It paid for a year. Only a reorganization that has reverted it for good lets it wait in vain.
    if (transferHash === transaction.hash && state !== 'taken_back') return;
    // A node that lags counts too few transactions. One that is in a block stays the evidence of what it did.
    if ((await chain.resultOf(authorization, transaction.hash)).kind !== 'unknown') return;
    try {
      const { isEmpty } = transaction;
      const empty = isEmpty ? await wallet.raised(transaction) : await wallet.emptied(transaction);
      if (empty !== undefined) {
        if (!(await ledger.replaceWithEmpty(id, transaction.hash, empty, new Date(clock.now())))) return;
        log.info({ payment: id, nonce: transaction.nonce }, 'nonce freed: an empty transaction takes it');
      }
      await chain.broadcast((empty ?? transaction).raw);
    } catch (error) {
      if (error instanceof RelayerUnfunded)
        log.error({ err: error, payment: id }, 'relayer cannot free a nonce: send ether to it');
      else log.warn({ err: error, payment: id }, 'an empty transaction was not sent');
    }
  }
}

/** Whether the transaction of a payment may move its money in the next block. */
const mayPay = ({ authorization, isFinal, state, transaction }: SentPayment, timestamp: bigint): boolean =>
  !transaction.isEmpty &&
  timestamp < authorization.validBefore &&
  (state === 'in_flight' || (state === 'applied' && !isFinal));

function byNonce(payments: readonly SentPayment[]): Array<[SentPayment, ...SentPayment[]]> {
  const groups = new Map<number, [SentPayment, ...SentPayment[]]>();
  for (const payment of payments) {
    const { nonce } = payment.transaction;
    const group = groups.get(nonce);
    if (group === undefined) groups.set(nonce, [payment]);
    else group.push(payment);
  }
  return [...groups.values()];
}
