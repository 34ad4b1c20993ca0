// Our own relayer: signs the transfer, stores the transaction, broadcasts it. Former relayers finish what they have sent.
import { type Address, isAddressEqual } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { maskedWallet } from '../domain/shown-value.ts';
import type { Chain } from './chain/chain.ts';
import { isInvalidTransaction } from './chain/rpc.ts';
import type { PricedCall } from './chain/simulation.ts';
import type { Nonces, NonceTurn } from './nonces.ts';
import type { Payment, PaymentLedger, RelayedTransaction } from './payment.ts';
import { RelayerUnfunded, type RelayerWallet, type RelayerWallets } from './relayer-wallet.ts';
import type { Submission, Submitter } from './submitter.ts';
import { WaitingTransactions } from './waiting-transactions.ts';

interface RelayerParts {
  chain: Chain;
  wallets: RelayerWallets;
  /** Nonces of the present wallet. */
  nonces: Nonces;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
  /** A payment in flight belongs to its request for this long. */
  settlementWaitMs: number;
}

export class Relayer implements Submitter {
  readonly #parts: RelayerParts;
  readonly #waiting: WaitingTransactions;

  constructor(parts: RelayerParts) {
    this.#parts = parts;
    this.#waiting = new WaitingTransactions({ ...parts, push: (payment) => this.push(payment) });
  }

  submit(payment: Payment, call: PricedCall): Promise<Submission> {
    return this.#parts.nonces.inTurn((turn) => this.#signAndBroadcast(payment, call, turn));
  }

  sendAgain(payment: Payment, call: PricedCall): Promise<void> {
    const { ledger, nonces, wallets } = this.#parts;
    return nonces.inTurn(async (turn) => {
      const transaction = await wallets.present.sign(call, turn.nonceMin);
      if (!(await ledger.replaceTransaction(payment.id, transaction, this.#now()))) return;
      await this.#broadcast(transaction, turn);
    });
  }

  async push(payment: Payment): Promise<boolean> {
    const { chain, ledger } = this.#parts;
    const { id, transaction } = payment;
    if (transaction === undefined) return false;
    // It stays on record while later transactions wait behind it.
    if (transaction.isEmpty) return this.isWaiting(payment);
    // The nonce is one of the account that signed, which may be a former relayer.
    if ((await chain.minedNonceOf(transaction.sender)) > transaction.nonce) return false;
    // At most one of the two is mined: they have the same nonce.
    const raised = await this.#raised(id, transaction);
    if (raised !== undefined && !(await ledger.replaceTransaction(id, raised, this.#now()))) return true;
    await chain.broadcast((raised ?? transaction).raw).catch(() => undefined);
    return true;
  }

  advance(): Promise<void> {
    return this.#waiting.advance();
  }

  async isWaiting({ transaction }: Payment): Promise<boolean> {
    const { chain } = this.#parts;
    if (transaction === undefined || this.#walletOf(transaction.sender) === undefined) return false;
    const { nonce, sender } = transaction;
    // Unknown to the network: the next transaction takes its nonce.
    if ((await chain.nextNonceOf(sender)) <= nonce) return false;
    return (await chain.minedNonceOf(sender)) <= nonce;
  }

  #walletOf(sender: Address): RelayerWallet | undefined {
    const { former, present } = this.#parts.wallets;
    return [present, ...former].find(({ address }) => isAddressEqual(address, sender));
  }

  /** Undefined if its fee is high enough, and if its sender cannot raise it: then it waits for lower fees. */
  async #raised(id: string, transaction: RelayedTransaction): Promise<RelayedTransaction | undefined> {
    const { log } = this.#parts;
    const { sender } = transaction;
    const wallet = this.#walletOf(sender);
    if (wallet === undefined) {
      log.warn(
        { payment: id, relayer: maskedWallet(sender) },
        'payment waits: the relayer that sent it has no key here; set RELAYER_FORMER_KEY_FILE',
      );
      return undefined;
    }
    try {
      return await wallet.raised(transaction);
    } catch (error) {
      if (!(error instanceof RelayerUnfunded)) throw error;
      log.error({ err: error, payment: id }, 'relayer cannot pay for a higher fee: send ether to it');
      return undefined;
    }
  }

  async #signAndBroadcast(payment: Payment, call: PricedCall, turn: NonceTurn): Promise<Submission> {
    const { ledger, log, wallets } = this.#parts;
    let transaction: RelayedTransaction;
    try {
      transaction = await wallets.present.sign(call, turn.nonceMin);
    } catch (cause) {
      if (cause instanceof RelayerUnfunded) log.error({ err: cause }, 'relayer cannot pay for gas');
      await ledger.release(payment, 'signing failed', this.#now());
      return { kind: 'unsigned', cause };
    }
    // From here on it may be in flight, even if the store's answer is lost.
    if (!(await ledger.setInFlight(payment.id, transaction, this.#now()))) {
      return { kind: 'unsigned', cause: new Error('the claim was released meanwhile') };
    }
    try {
      await this.#broadcast(transaction, turn);
    } catch (error) {
      log.warn({ err: error, payment: payment.id }, 'broadcast failed');
      // After any other error it may have reached the network.
      if (isInvalidTransaction(error)) {
        await ledger.setReverted(payment.id, 'every node rejects the transaction', this.#now());
        return { kind: 'refused' };
      }
    }
    void this.#waiting.advanceBefore(transaction);
    return { kind: 'signed', hash: transaction.hash };
  }

  async #broadcast({ raw, nonce }: RelayedTransaction, turn: NonceTurn): Promise<void> {
    await this.#parts.chain.broadcast(raw);
    turn.taken(nonce);
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
