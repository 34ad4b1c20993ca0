// The interface that puts an authorized transfer on the chain: our relayer or a facilitator implements it.
import type { Hex } from 'viem';
import type { Chain } from './chain/chain.ts';
import type { PricedCall } from './chain/simulation.ts';
import type { Payment } from './payment.ts';

/** The result of an attempt. After every result except the first the money may move. */
export type Submission =
  /** Nothing was put on the chain, and the number is released. */
  | { kind: 'unsigned'; cause: unknown }
  /** A third party saw it and rejected it. The number is released; until the authorization expires the money may still move. */
  | { kind: 'refused' }
  /** Our own transaction. */
  | { kind: 'signed'; hash: Hex }
  /** `hash`: the transaction that the third party names, true or not. */
  | { kind: 'handed_over'; hash: Hex | undefined };

export interface Submitter {
  /**
   * Puts the transfer of a payment on the chain; our relayer sends `call`. First records in the ledger that the transfer may be on the
   * chain. Rejects only if the ledger may not have recorded it.
   */
  submit(payment: Payment, call: PricedCall): Promise<Submission>;
  /** Puts the transfer of an applied payment on the chain again, after a reorganization reverted it. */
  sendAgain(payment: Payment, call: PricedCall): Promise<void>;
  /**
   * Advances a payment in flight, or an applied one that was reverted. False if its present transaction cannot pay any more, and
   * no later one waits behind it.
   */
  push(payment: Payment): Promise<boolean>;
  /**
   * Advances the transactions that wait for a block, whatever has become of their payments: all later ones wait behind their nonces. Never
   * rejects.
   */
  advance(): Promise<void>;
  /** Whether our own transaction of a payment waits for a block, and is advanced until it is in one. */
  isWaiting(payment: Payment): Promise<boolean>;
}

/** The block in which our own transaction of a payment was mined and moved nothing. No other transaction is sent after that. */
export async function refusalOf(
  chain: Pick<Chain, 'resultOf'>,
  { authorization, transaction }: Payment,
): Promise<{ blockNumber: bigint } | undefined> {
  if (transaction === undefined || transaction.isEmpty) return undefined;
  const result = await chain.resultOf(authorization, transaction.hash);
  return result.kind === 'reverted' ? result : undefined;
}
