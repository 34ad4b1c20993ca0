// Our own relayer: signs the transfer, stores the transaction, broadcasts it.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Chain } from './chain/chain.ts';
import { isInvalidTransaction } from './chain/rpc.ts';
import type { PricedCall } from './chain/simulation.ts';
import type { Payment, PaymentLedger, SignedTransaction } from './payment.ts';
import { RelayerUnfunded, type RelayerWallet } from './relayer-wallet.ts';
import type { Submission, Submitter } from './submitter.ts';

/** After this time every node behind an RPC has a transaction that one of them accepted, unless it was dropped. */
const NONCE_MEMORY_MS = 30_000;

interface RelayerParts {
  chain: Chain;
  wallet: RelayerWallet;
  ledger: PaymentLedger;
  clock: Clock;
  log: Logger;
}

export class Relayer implements Submitter {
  readonly #parts: RelayerParts;
  // Signatures take turns, so that each gets its own nonce (one process; several relayers are several processes).
  #signing: Promise<unknown> = Promise.resolve();
  /** The last transaction that the RPC accepted. Other nodes behind the RPC may not count it yet. */
  #taken: { nonce: number; atMs: number } | undefined;

  constructor(parts: RelayerParts) {
    this.#parts = parts;
  }

  submit(payment: Payment, call: PricedCall): Promise<Submission> {
    const submitted = this.#signing.then(() => this.#signAndBroadcast(payment, call));
    this.#signing = submitted.catch(() => undefined);
    return submitted;
  }

  sendAgain(payment: Payment, call: PricedCall): Promise<void> {
    const { ledger, wallet } = this.#parts;
    const sent = this.#signing.then(async () => {
      const transaction = await wallet.sign(call, this.#nonceMin());
      if (!(await ledger.replaceTransaction(payment.id, transaction, this.#now()))) return;
      await this.#broadcast(transaction);
    });
    this.#signing = sent.catch(() => undefined);
    return sent;
  }

  async push({ id, transaction }: Payment): Promise<boolean> {
    const { ledger, wallet } = this.#parts;
    if (transaction === undefined || (await wallet.minedNonce()) > transaction.nonce) return false;
    // At most one of the two is mined: they have the same nonce.
    const raised = await wallet.raised(transaction);
    if (raised !== undefined && !(await ledger.replaceTransaction(id, raised, this.#now()))) return true;
    await this.#broadcast(raised ?? transaction).catch(() => undefined);
    return true;
  }

  async #signAndBroadcast(payment: Payment, call: PricedCall): Promise<Submission> {
    const { ledger, log, wallet } = this.#parts;
    let transaction: SignedTransaction;
    try {
      transaction = await wallet.sign(call, this.#nonceMin());
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
      await this.#broadcast(transaction);
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

  async #broadcast({ raw, nonce }: SignedTransaction): Promise<void> {
    await this.#parts.chain.broadcast(raw);
    if (nonce >= this.#nonceMin()) this.#taken = { nonce, atMs: this.#parts.clock.now() };
  }

  #nonceMin(): number {
    if (this.#taken === undefined) return 0;
    const ageMs = this.#parts.clock.now() - this.#taken.atMs;
    return ageMs >= 0 && ageMs < NONCE_MEMORY_MS ? this.#taken.nonce + 1 : 0;
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}
