// Our own relayer: signs the transfer, stores the transaction, broadcasts it.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Chain } from './chain/chain.ts';
import { isInvalidTransaction } from './chain/rpc.ts';
import type { PricedCall } from './chain/simulation.ts';
import type { Nonces, NonceTurn } from './nonces.ts';
import type { Payment, PaymentLedger, SignedTransaction } from './payment.ts';
import { RelayerUnfunded, type RelayerWallet } from './relayer-wallet.ts';
import type { Submission, Submitter } from './submitter.ts';

interface RelayerParts {
  chain: Chain;
  wallet: RelayerWallet;
  nonces: Nonces;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
}

export class Relayer implements Submitter {
  readonly #parts: RelayerParts;

  constructor(parts: RelayerParts) {
    this.#parts = parts;
  }

  submit(payment: Payment, call: PricedCall): Promise<Submission> {
    return this.#parts.nonces.inTurn((turn) => this.#signAndBroadcast(payment, call, turn));
  }

  sendAgain(payment: Payment, call: PricedCall): Promise<void> {
    const { ledger, nonces, wallet } = this.#parts;
    return nonces.inTurn(async (turn) => {
      const transaction = await wallet.sign(call, turn.nonceMin);
      if (!(await ledger.replaceTransaction(payment.id, transaction, this.#now()))) return;
      await this.#broadcast(transaction, turn);
    });
  }

  async push({ id, transaction }: Payment): Promise<boolean> {
    const { ledger, wallet } = this.#parts;
    if (transaction === undefined || (await wallet.minedNonce()) > transaction.nonce) return false;
    // At most one of the two is mined: they have the same nonce.
    const raised = await wallet.raised(transaction);
    if (raised !== undefined && !(await ledger.replaceTransaction(id, raised, this.#now()))) return true;
    await this.#parts.chain.broadcast((raised ?? transaction).raw).catch(() => undefined);
    return true;
  }

  async #signAndBroadcast(payment: Payment, call: PricedCall, turn: NonceTurn): Promise<Submission> {
    const { ledger, log, wallet } = this.#parts;
    let transaction: SignedTransaction;
    try {
      transaction = await wallet.sign(call, turn.nonceMin);
    } catch (cause) {
      if (cause instanceof RelayerUnfunded) log.error({ err: cause }, 'relayer cannot pay for gas');
      await ledger.release(payment.id, 'signing failed', this.#now());
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
    return { kind: 'signed', hash: transaction.hash };
  }

  async #broadcast({ raw, nonce }: SignedTransaction, turn: NonceTurn): Promise<void> {
    await this.#parts.chain.broadcast(raw);
    turn.taken(nonce);
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
