// Sends one payment back, for an operator who has the key: from the command line, or from the console.
import { systemClock } from '#shared/clock.ts';
import type { rpcUrlOf } from '../config/config.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { shownValue, shownWallet } from '../domain/shown-value.ts';
import { connectChain } from '../payments/chain/chain.ts';
import { type RefundLedger, refund, refundableTransfer } from '../payments/refund.ts';
import { connectRefundWallet } from '../payments/refund-wallet.ts';
import type { Operator } from './procedures/all-procedures.ts';
import { rpcFor } from './void-payment.ts';

type RefundOptions = Parameters<typeof rpcUrlOf>[0] & {
  readonly key: Parameters<typeof connectRefundWallet>[0]['key'];
  readonly reason: string;
  readonly yes: boolean;
  readonly transfer: `0x${string}` | undefined;
  readonly signAnew: boolean;
  readonly unrelated: `0x${string}` | undefined;
  readonly waitMs: number;
  readonly rpcTimeoutMs: number;
};

/** The key stays in this process: a service that has the database is given the signed transaction, to store it. */
export async function refundPayment(operator: Operator, id: string, options: RefundOptions): Promise<string> {
  const ledger = refundLedgerOf(operator);
  const payment = await operator.call('payment', { id });
  const what = `${shownValue(payment)} to ${shownWallet(payment.payer, true)}`;
  if (payment.state === 'refunded') return `${id} is refunded: ${what} by ${payment.refund_hash}`;
  if (payment.state !== 'refunding') refundableTransfer(await ledger.find(id), options.transfer);
  if (!options.yes) throw new OperatorRefusal(`nothing was done: run the command with --yes to send ${what}`);
  const rpc = rpcFor(options, payment.chain_id);
  const chain = connectChain(rpc);
  const hash = await refund(
    {
      ledger,
      clock: systemClock,
      waitMs: options.waitMs,
      wallet: connectRefundWallet({ ...rpc, key: options.key }),
      isPaid: async (transfer, transferHash) =>
        (await chain.resultOf(transfer, transferHash)).kind === 'transferred',
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

/** The ledger of refunds of the running service. */
function refundLedgerOf(operator: Operator): RefundLedger {
  return {
    async find(id) {
      const { transfer, ...payment } = await operator.call('refundable', { id });
      return {
        ...payment,
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
  };
}
