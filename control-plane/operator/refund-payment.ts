// Sends one payment back, for an operator who has the key: from the command line, or from the console.
import type { Hex } from 'viem';
import type { Clock } from '#shared/clock.ts';
import type { rpcUrlOf } from '../config/payments-file.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { shownValue, shownWallet } from '../domain/shown-value.ts';
import type { AuthorizedTransfer } from '../domain/transfer-authorization.ts';
import { type Chain, connectChain } from '../payments/chain/chain.ts';
import { backwards, type RefundLedger, refund, refundableTransfer } from '../payments/refund.ts';
import { connectRefundWallet } from '../payments/refund-wallet.ts';
import type { Operator } from './procedures/all-procedures.ts';
import { rpcFor } from './void-payment.ts';

export type RefundOptions = Parameters<typeof rpcUrlOf>[0] & {
  readonly clock: Clock;
  readonly key: Parameters<typeof connectRefundWallet>[0]['key'];
  readonly reason: string;
  readonly yes: boolean;
  readonly transfer: `0x${string}` | undefined;
  readonly signAnew: boolean;
  readonly unrelated: `0x${string}` | undefined;
  readonly waitMs: number;
  readonly rpcTimeoutMs: number;
  readonly safeDepthBlocks: number;
};

/** The key stays in this process: a service that has the database is given the signed transaction, to store it. */
export async function refundPayment(operator: Operator, id: string, options: RefundOptions): Promise<string> {
  const ledger = refundLedgerOf(operator);
  const payment = await operator.call('payment', { id });
  const value = payment.refund_value ?? payment.value;
  const what = `${shownValue({ ...payment, value })} to ${shownWallet(payment.payer, true)}`;
  if (payment.state === 'refunded') return `${id} is refunded: ${what} by ${payment.refund_hash}`;
  if (payment.state !== 'refunding') refundableTransfer(await ledger.find(id), options.transfer);
  if (!options.yes)
    throw new OperatorRefusal(`Nothing was done. Run the command with --yes to send ${what}.`);
  const rpc = rpcFor(options, payment.chain_id);
  const chain = connectChain({ ...rpc, safeDepthBlocks: options.safeDepthBlocks });
  const hash = await refund(
    {
      ledger,
      clock: options.clock,
      waitMs: options.waitMs,
      wallet: connectRefundWallet({ ...rpc, key: options.key }),
      isPaid: (transfer, transferHash) => isPaid(chain, transfer, transferHash),
      safeBlock: async () => (await chain.safeBlock()).number,
    },
    id,
    {
      reason: options.reason,
      transferHash: options.transfer,
      isSignedAgain: options.signAnew,
      unrelated: options.unrelated,
    },
  );
  return `${id} is refunded: ${what} by ${hash}`;
}

/**
 * Throws `OperatorRefusal` if the refunds of these payments could not be sent now: no key of the account, too little of the token or gas
 * there, a payer that the token blocks, or a transfer that the chain does not show. Sends and stores nothing.
 */
export async function checkRefunds(
  operator: Operator,
  shares: ReadonlyArray<{ id: string; value: string; chain_id: number }>,
  options: Pick<RefundOptions, 'key' | 'rpcTimeoutMs' | 'safeDepthBlocks'> & Parameters<typeof rpcUrlOf>[0],
): Promise<void> {
  const ledger = refundLedgerOf(operator);
  /** All refunds from one account together. */
  const sums = new Map<string, bigint>();
  for (const { id, value, chain_id } of shares) {
    const rpc = rpcFor(options, chain_id);
    const wallet = connectRefundWallet({ ...rpc, key: options.key });
    await wallet.checkChain();
    const { transfer, transferHash } = await ledger.find(id);
    const chain = connectChain({ ...rpc, safeDepthBlocks: options.safeDepthBlocks });
    if (transferHash === undefined || !(await isPaid(chain, transfer, transferHash)))
      throw new OperatorRefusal(`Nothing was done: the RPC does not show the transfer of ${id}.`);
    const account = `${chain_id} ${transfer.asset} ${transfer.to}`;
    const refundValue = (sums.get(account) ?? 0n) + BigInt(value);
    sums.set(account, refundValue);
    await wallet.check(backwards({ transfer, refundValue })).catch((error: unknown) => {
      if (!(error instanceof OperatorRefusal)) throw error;
      throw new OperatorRefusal(`Nothing was done: ${error.message}`);
    });
  }
}

/** Throws `OperatorRefusal` while a reorganization may still take the money back. */
async function isPaid(chain: Chain, transfer: AuthorizedTransfer, hash: Hex): Promise<boolean> {
  const result = await chain.resultOf(transfer, hash);
  if (result.kind !== 'transferred') return false;
  if (result.blockNumber <= (await chain.safeBlock()).number) return true;
  throw new OperatorRefusal(
    `Nothing was done: the money came in ${hash}, in a block that a reorganization may still revert. Run the command again in some minutes.`,
  );
}

/** The ledger of refunds of the running service. */
export function refundLedgerOf(operator: Operator): RefundLedger {
  return {
    async find(id) {
      const { transfer, refundValue, ...payment } = await operator.call('refundable', { id });
      return {
        ...payment,
        refundValue: BigInt(refundValue),
        transfer: { ...transfer, value: BigInt(transfer.value) },
      };
    },
    start: (id, refund, transferHash, reason) =>
      operator.call('startRefund', { id, refund, transferHash, reason }),
    replace: (id, hash, refund, reason) => operator.call('replaceRefund', { id, hash, refund, reason }),
    adopt: async (id, hash, mined) => {
      await operator.call('adoptRefund', { id, hash, mined });
    },
    end: async (id, hash) => {
      await operator.call('endRefund', { id, hash });
    },
    close: async (id, hash, because) => {
      await operator.call('closePayment', { id, hash: hash ?? null, ...because });
    },
  };
}
