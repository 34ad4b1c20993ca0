// Who puts an authorized transfer on the chain: our own relayer, or a facilitator.
import type { Hex } from 'viem';
import type { Chain } from './chain/chain.ts';
import type { PricedCall } from './chain/simulation.ts';
import type { Payment } from './payment.ts';

/** What became of an attempt. But for the first the money may move. */
export type Submission =
  /** Nothing was put on the chain, and the number is given back. */
  | { kind: 'unsigned'; cause: unknown }
  /** It was shown to somebody who did not take it. The number is given back; until it expires the money may still move. */
  | { kind: 'refused' }
  /** Our own transaction. */
  | { kind: 'signed'; hash: Hex }
  /** `hash`: the transaction that somebody else names, true or not. */
  | { kind: 'handed_over'; hash: Hex | undefined };

export interface Submitter {
  /**
   * Puts the transfer of a payment on the chain, by `call` where it is ours to send, and notes in the ledger that it may be
   * there before it may. Rejects only while the ledger is not known to have it.
   */
  submit(payment: Payment, call: PricedCall): Promise<Submission>;
  /** Puts the transfer of an applied payment on the chain again, after a reorganisation took it back. */
  sendAgain(payment: Payment, call: PricedCall): Promise<void>;
  /** Gives a payment in flight, or one that was taken back, another push; false when what is there can not be mined any more. */
  push(payment: Payment): Promise<boolean>;
}

/** The block in which our own transaction of a payment was mined and moved nothing. Nothing is sent anew after that. */
export async function refusalOf(
  chain: Pick<Chain, 'resultOf'>,
  { authorization, transaction }: Payment,
): Promise<{ blockNumber: bigint } | undefined> {
  const result = transaction && (await chain.resultOf(authorization, transaction.hash));
  return result?.kind === 'reverted' ? result : undefined;
}
