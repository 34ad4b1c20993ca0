// Gives up a refund that the token rejects, such as one to a payer on its blocklist. The chain proves that no refund can follow.
import { ownCommand } from '#shared/process/own-command.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { shownValue, shownWallet } from '../domain/shown-value.ts';
import { connectChain } from '../payments/chain/chain.ts';
import { backwards, otherTransfers, type RefundablePayment, refundableTransfer } from '../payments/refund.ts';
import { connectRefundWallet, type RefundWallet } from '../payments/refund-wallet.ts';
import type { Operator } from './procedures/all-procedures.ts';
import { refundLedgerOf } from './refund-payment.ts';
import { type ChainPlace, rpcFor } from './void-payment.ts';

interface CloseOptions extends ChainPlace {
  readonly reason: string;
  readonly yes: boolean;
  readonly unrelated: `0x${string}` | undefined;
}

/**
 * Ends a payment as `closed`: its money stays where it is, and the service never refunds it. Safe to repeat, and beside a refund by another
 * operator. Throws `OperatorRefusal` if nothing was done: the token would make the refund, or one that was sent may still move the money.
 */
export async function closePayment(operator: Operator, id: string, options: CloseOptions): Promise<string> {
  const row = await operator.call('payment', { id });
  const value = shownValue({ ...row, value: row.refund_value ?? row.value });
  const payTo = shownWallet(row.pay_to, true);
  const closed = `${id} is closed: ${value} to ${shownWallet(row.payer, true)} were not sent, and stay in ${payTo}`;
  const ledger = refundLedgerOf(operator);
  const payment = await ledger.find(id);
  // Perhaps by another operator, since the row was read.
  if (payment.state === 'closed') return closed;
  if (payment.state !== 'refunding') refundableTransfer(payment);
  const rpc = rpcFor(options, row.chain_id);
  const wallet = connectRefundWallet({ ...rpc, key: undefined });
  await wallet.checkChain();
  const { number: safe } = await connectChain({
    ...rpc,
    safeDepthBlocks: options.safeDepthBlocks,
  }).safeBlock();
  await refuseIfSent(wallet, payment, { ...options, safe });
  const proof = await wallet.rejection(backwards(payment));
  if (proof === undefined)
    throw refusal(
      `the token would make the transfer now. Run "${ownCommand('control-plane')} payment refund ${id}".`,
    );
  if (!options.yes)
    throw refusal(
      `run the command with --yes to give up the refund of ${value}, which then stays in ${payTo}`,
    );
  await ledger.close(id, payment.refund?.hash, { reason: options.reason, proof: proof.slice(0, 500) });
  return closed;
}

/** Throws `OperatorRefusal` if a refund was sent, or can still be mined. */
async function refuseIfSent(
  wallet: RefundWallet,
  payment: RefundablePayment,
  { safe, unrelated }: Pick<CloseOptions, 'unrelated'> & { safe: bigint },
): Promise<void> {
  const { id, refund } = payment;
  if (refund === undefined) return;
  const transfer = backwards(payment);
  if ((await wallet.resultOf(refund.hash, transfer)) === 'transferred')
    throw refusal(
      `${refund.hash} refunded it. Run "${ownCommand('control-plane')} payment refund ${id}", which records that.`,
    );
  if (!(await wallet.isSpent(refund, transfer, safe)))
    throw refusal(
      `${refund.hash} may still refund it: it is in no block up to ${safe}, the newest that no reorganization reverts. Run "${ownCommand('control-plane')} payment refund ${id}" to send it again, then this command some minutes later.`,
    );
  const [other] = await otherTransfers({ wallet }, payment, { unrelated });
  if (other !== undefined)
    throw refusal(
      `${other.hash} sent the payer the same amount since the refund began. If it is the refund, run "${ownCommand('control-plane')} payment refund ${id}". If it was for something else, add --unrelated ${other.hash}.`,
    );
}

const refusal = (why: string): OperatorRefusal => new OperatorRefusal(`Nothing was done: ${why}`);
