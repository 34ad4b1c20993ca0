// Ends a payment by hand, where the chain proves that it can move no money any more.
import type { Hex } from 'viem';
import { ownCommand } from '#shared/process/own-command.ts';
import { rpcUrlOf } from '../config/payments-file.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { AuthorizedTransfer } from '../domain/transfer-authorization.ts';
import { endedUnused } from '../payments/chain/authorization-end.ts';
import { type Chain, connectChain } from '../payments/chain/chain.ts';
import type { RpcOptions } from '../payments/chain/rpc.ts';
import type { Operator } from './procedures/all-procedures.ts';

export type ChainPlace = Parameters<typeof rpcUrlOf>[0] & {
  readonly rpcTimeoutMs: number;
  readonly safeDepthBlocks: number;
};

/** Where that chain is asked. Throws when no option says it. */
export function rpcFor(options: Omit<ChainPlace, 'safeDepthBlocks'>, chainId: number): RpcOptions {
  const rpcUrl = rpcUrlOf(options, chainId);
  if (rpcUrl === undefined)
    throw new Error(`no RPC for chain ${chainId}: give PAYMENTS_FILE, or RPC_URL and CHAIN_ID`);
  return { chainId, rpcUrl, rpcTimeoutMs: options.rpcTimeoutMs };
}

/** Throws `OperatorRefusal` while money may still move, and if it has arrived. */
export async function voidPayment(operator: Operator, id: string, options: ChainPlace): Promise<string> {
  const payment = await operator.call('payment', { id });
  if (payment.state === 'void') return `${id} is void`;
  if (payment.subscription_id !== null)
    throw new OperatorRefusal(
      `Nothing was done: ${id} bought a year of ${payment.subscription_id}. Run "${ownCommand('control-plane')} subscription end" to end it.`,
    );
  const { transfer } = await operator.call('refundable', { id });
  const { safeDepthBlocks } = options;
  const chain = connectChain({ ...rpcFor(options, payment.chain_id), safeDepthBlocks });
  const transactions = [payment.transfer_hash, payment.transaction_hash].filter((hash) => hash !== null);
  const why = await whyVoid(chain, {
    transfer: { ...transfer, value: BigInt(transfer.value) },
    transactions: transactions as Hex[],
    validBefore: BigInt(payment.valid_before),
  });
  await operator.call('voidPayment', { id, why });
  return `${id} is void: ${why}`;
}

interface Question {
  transfer: AuthorizedTransfer;
  transactions: readonly Hex[];
  validBefore: bigint;
}

/** The proof, in words. */
async function whyVoid(chain: Chain, { transfer, transactions, validBefore }: Question): Promise<string> {
  const head = await chain.head();
  const safe = await chain.safeBlock();
  for (const hash of transactions) {
    const result = await chain.resultOf(transfer, hash);
    if (result.kind === 'transferred') throw cameBy(result.transaction);
  }
  if (!(await chain.isNonceUsed(transfer, head.number))) {
    if (await endedUnused(chain, { ...transfer, validBefore }, { head, safe }))
      return `it ended unused before block ${safe.number}`;
    const end = new Date(Number(validBefore) * 1000).toISOString();
    throw new OperatorRefusal(
      head.timestamp < validBefore
        ? `Nothing was done: anyone can submit this authorization until ${end}.`
        : `Nothing was done: a reorganization can still include this authorization, which ended at ${end}. Try again when block ${head.number} is safe (now: ${safe.number}).`,
    );
  }
  const use = await chain.findUse(transfer);
  if (use?.kind === 'paid') throw cameBy(use.transaction);
  if (use !== undefined) {
    if (use.blockNumber <= safe.number) return `used for something else by ${use.transaction}`;
    throw new OperatorRefusal(
      `Nothing was done: a reorganization can still take back ${use.transaction}, which used the authorization. Try again when block ${use.blockNumber} is safe (now: ${safe.number}).`,
    );
  }
  throw new OperatorRefusal(
    'Nothing was done: the authorization was used, and the RPC does not show by which transaction. Its log may lag; the service goes on searching for a day.',
  );
}

const cameBy = (transaction: Hex): OperatorRefusal =>
  new OperatorRefusal(
    `Nothing was done: its money arrived with ${transaction}, and the service will apply it.`,
  );
