// Our own relayer: signs the transfer, stores the transaction, broadcasts it.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Chain } from './chain.ts';
import type { Payment, PaymentLedger, SignedTransaction } from './payment.ts';
import { RelayerUnfunded, type RelayerWallet } from './relayer-wallet.ts';
import type { Submission, Submitter } from './submitter.ts';

export interface RelayerParts {
  chain: Chain;
  wallet: RelayerWallet;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
}

export class Relayer implements Submitter {
  readonly #parts: RelayerParts;
  // Its nonces are taken one at a time (one process; several relayers are several processes).
  #signing: Promise<unknown> = Promise.resolve();

  constructor(parts: RelayerParts) {
    this.#parts = parts;
  }

  submit(payment: Payment, gas: bigint): Promise<Submission> {
    const submitted = this.#signing.then(() => this.#signAndBroadcast(payment, gas));
    this.#signing = submitted.catch(() => undefined);
    return submitted;
  }

  async push({ id, transaction }: Payment): Promise<boolean> {
    const { chain, ledger, wallet } = this.#parts;
    if (transaction === undefined || (await wallet.minedNonce()) > transaction.nonce) return false;
    // One of the two is mined at most: they have one nonce.
    const raised = await wallet.raised(transaction);
    if (raised !== undefined && !(await ledger.setInFlight(id, raised, this.#now()))) return true;
    await chain.broadcast((raised ?? transaction).raw).catch(() => undefined);
    return true;
  }

  async #signAndBroadcast(payment: Payment, gas: bigint): Promise<Submission> {
    const { chain, ledger, log, wallet } = this.#parts;
    let transaction: SignedTransaction;
    try {
      transaction = await wallet.sign(payment.authorization, gas);
    } catch (cause) {
      if (cause instanceof RelayerUnfunded) log.error({ err: cause }, 'the relayer cannot pay for gas');
      await ledger.release(payment.id, 'could not be signed', this.#now());
      return { kind: 'unsigned', cause };
    }
    // From here on it may be in flight, even if the store's answer is lost.
    if (!(await ledger.setInFlight(payment.id, transaction, this.#now()))) {
      return { kind: 'unsigned', cause: new Error('the claim was released meanwhile') };
    }
    await chain.broadcast(transaction.raw).catch((error: unknown) =>
      // It may have reached the network all the same.
      log.warn({ err: error, payment: payment.id }, 'broadcast failed'),
    );
    return { kind: 'signed', hash: transaction.hash };
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
