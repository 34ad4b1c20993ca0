// Who puts an authorized transfer on the chain: our own relayer, or a facilitator.
import type { Hex } from 'viem';
import type { Payment } from './payment.ts';

/** What became of an attempt. But for the first the money may move. */
export type Submission =
  /** Nothing was put on the chain, and the claim is released. */
  | { kind: 'unsigned'; cause: unknown }
  /** Our own transaction. */
  | { kind: 'signed'; hash: Hex }
  /** `hash`: the transaction that somebody else names, true or not. */
  | { kind: 'handed_over'; hash: Hex | undefined };

export interface Submitter {
  /**
   * Puts the transfer of a payment on the chain, for up to `gas`, and notes in the ledger that it may be there
   * before it may. Rejects only while the ledger is not known to have it.
   */
  submit(payment: Payment, gas: bigint): Promise<Submission>;
  /** Gives a payment in flight another push; false when what is there can not be mined any more. */
  push(payment: Payment): Promise<boolean>;
}
