// A chain with one dollar (EIP-3009) in memory: blocks every two seconds, a pool of transactions that wait, fees, reorganisations. A
// block's number follows from its time, and only those with transactions are kept.
import type { Hex } from 'viem';
import type { ManualClock } from '../fixtures/clocks/manual-clock.ts';
import type { Authorization } from './authorizations.ts';
import type { PayerKind } from './plan.ts';

export const BLOCK_S = 2;
/** Blocks under the newest one that may still vanish. */
export const SAFE_DEPTH = 64;

const GAS_OF_TRANSFER = 90_000n;
const GAS_OF_REFUSAL = 45_000n;

export interface ChainTransaction {
  hash: Hex;
  /** An empty one only uses the relayer's nonce. */
  kind: 'transfer' | 'cancel' | 'empty';
  authorization: Authorization;
  sender: 'relayer' | 'facilitator' | 'stranger';
  /** Nonce of the relayer. */
  nonce: number | undefined;
  gasLimit: bigint;
  fee: number;
  /** Waits in front of those with the same fee. */
  isFirst: boolean;
}

export interface MinedTransaction extends ChainTransaction {
  blockNumber: number;
  outcome: 'paid' | 'cancelled' | 'refused' | 'empty';
  gasUsed: bigint;
}

/** An account of a payer. */
interface Account {
  kind: PayerKind;
  /** In prices of a year. */
  balance: number;
}

interface State {
  uses: Map<number, MinedTransaction>;
  balances: Map<number, number>;
  relayerNonce: number;
}

export class SimulatedChain {
  readonly clock: ManualClock;
  readonly accounts: readonly Account[];
  /** The least fee that a block takes. */
  fee = 1;
  pending: ChainTransaction[] = [];
  /** Relayer transactions that a reorganisation removed burnt nothing: only these count. */
  mined: MinedTransaction[] = [];
  readonly #random: (below: number) => number;
  #state: State;

  constructor(clock: ManualClock, accounts: readonly Account[], random: (below: number) => number) {
    this.clock = clock;
    this.accounts = accounts;
    this.#random = random;
    this.#state = this.#emptyState();
  }

  get head(): number {
    return Math.floor(this.clock.now() / 1000 / BLOCK_S);
  }

  /** The use of an authorization as of a block. */
  useOf({ id }: Authorization, blockNumber = this.head): MinedTransaction | undefined {
    const use = this.#state.uses.get(id);
    return use !== undefined && use.blockNumber <= blockNumber ? use : undefined;
  }

  /** By a transaction in the chain, as of a block. */
  minedBy(hash: Hex, blockNumber = this.head): MinedTransaction | undefined {
    return this.mined.find(
      (transaction) => transaction.hash === hash && transaction.blockNumber <= blockNumber,
    );
  }

  hasPaid(authorization: Authorization): boolean {
    return this.useOf(authorization)?.outcome === 'paid';
  }

  balanceOf(payer: number): number {
    return this.#state.balances.get(payer) ?? 0;
  }

  /** Money that goes elsewhere, or comes from there; no reorganisation takes that back. */
  move(payer: number, prices: number): void {
    const account = this.accounts[payer];
    if (account === undefined) throw new Error('no such account');
    account.balance += prices;
    this.#state.balances.set(payer, this.balanceOf(payer) + prices);
  }

  get minedNonce(): number {
    return this.#state.relayerNonce;
  }

  /** With what waits in the pool. */
  get pendingNonce(): number {
    let nonce = this.minedNonce;
    while (this.pending.some((transaction) => transaction.nonce === nonce)) nonce += 1;
    return nonce;
  }

  /** The relayer's next transaction waits in the pool, and all later ones behind it. */
  get isRelayerWaiting(): boolean {
    return this.pending.some(({ nonce }) => nonce === this.minedNonce);
  }

  /** Into the pool. One that is known, or can not be mined any more, changes nothing. */
  add(transaction: ChainTransaction): void {
    const { hash, nonce } = transaction;
    if (this.pending.some((known) => known.hash === hash) || this.minedBy(hash) !== undefined) return;
    if (nonce !== undefined && nonce < this.minedNonce) return;
    this.pending.push(transaction);
  }

  /** Makes the next block. Each transaction that may be in it is, with three chances of four. */
  mine(isFull = true): void {
    this.clock.advance(BLOCK_S * 1000);
    for (;;) {
      const able = this.pending.filter((one) => this.#isAble(one));
      const next = able.find((one) => one.isFirst) ?? able[this.#random(Math.max(1, able.length))];
      if (next === undefined) return;
      this.pending = this.pending.filter((one) => one !== next);
      if (!isFull && this.#random(4) === 0) {
        // Left for a later one, and whatever has a later nonce with it.
        this.pending.push(next);
        return;
      }
      this.#include(next, this.head);
      // One nonce is used once.
      this.pending = this.pending.filter(({ nonce }) => nonce === undefined || nonce >= this.minedNonce);
    }
  }

  /** The newest `depth` blocks become others. Their transactions wait again, or are gone. */
  reorganise(depth: number, isLost: boolean): MinedTransaction[] {
    const stays = this.mined.filter(({ blockNumber }) => blockNumber <= this.head - depth);
    const gone = this.mined.filter(({ blockNumber }) => blockNumber > this.head - depth);
    this.#state = this.#emptyState();
    this.mined = [];
    for (const transaction of stays) this.#keep(transaction);
    if (!isLost) for (const { blockNumber: _, outcome: _o, gasUsed: _g, ...again } of gone) this.add(again);
    return gone;
  }

  #emptyState(): State {
    const balances = new Map(this.accounts.map(({ balance }, payer) => [payer, balance]));
    return { uses: new Map(), balances, relayerNonce: 0 };
  }

  #isAble({ fee, nonce }: ChainTransaction): boolean {
    return fee >= this.fee && (nonce === undefined || nonce === this.minedNonce);
  }

  #include(transaction: ChainTransaction, blockNumber: number): void {
    const outcome = this.#outcomeOf(transaction, blockNumber);
    const { authorization, gasLimit, sender } = transaction;
    const kind = this.accounts[authorization.payer]?.kind;
    const burnt = kind === 'liar' && sender === 'relayer' ? gasLimit : GAS_OF_REFUSAL;
    const gasUsed = outcome === 'refused' ? burnt : GAS_OF_TRANSFER;
    this.#keep({ ...transaction, blockNumber, outcome, gasUsed });
  }

  #keep(mined: MinedTransaction): void {
    const { authorization, nonce, outcome } = mined;
    this.mined.push(mined);
    if (nonce !== undefined) this.#state.relayerNonce = nonce + 1;
    if (outcome === 'refused' || outcome === 'empty') return;
    this.#state.uses.set(authorization.id, mined);
    if (outcome === 'paid')
      this.#state.balances.set(authorization.payer, this.balanceOf(authorization.payer) - 1);
  }

  #outcomeOf({ authorization, kind, sender }: ChainTransaction, block: number): MinedTransaction['outcome'] {
    if (kind === 'empty') return 'empty';
    if (this.#state.uses.has(authorization.id)) return 'refused';
    if (kind === 'cancel') return 'cancelled';
    if (block * BLOCK_S >= authorization.validBefore) return 'refused';
    if (this.balanceOf(authorization.payer) < 1) return 'refused';
    // It knows whose transaction it is in.
    if (this.accounts[authorization.payer]?.kind === 'liar' && sender === 'relayer') return 'refused';
    return 'paid';
  }
}
