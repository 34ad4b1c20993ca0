// The relayer's account on each chain, as its RPC and the ledger report it.
import { formatEther } from 'viem';
import { caip2 } from '#shared/api/payment-networks.ts';
import { type Config, paymentNetworksOf, relayerKeyOf } from '../config/config.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { connectRelayerWallet } from '../payments/relayer-wallet.ts';
import type { Operator } from './procedures/all-procedures.ts';

type StatusOptions = Parameters<typeof paymentNetworksOf>[0] &
  Parameters<typeof relayerKeyOf>[0] &
  Pick<Config, 'rpcTimeoutMs'>;

/** More than a relayer has in flight at once. */
const PAYMENTS_MAX = 1_000;

/** Text for people. Throws `OperatorRefusal` without a key. Rejects when an RPC cannot be reached. */
export async function shownRelayers(operator: Operator, options: StatusOptions): Promise<string> {
  const key = relayerKeyOf(options);
  if (key === undefined)
    throw new OperatorRefusal('there is no relayer: set RELAYER_KEY_FILE, as the service has it');
  const networks = paymentNetworksOf(options, key).filter(
    ({ facilitatorUrl }) => facilitatorUrl === undefined,
  );
  if (networks.length === 0)
    throw new OperatorRefusal('facilitators submit all transfers: no relayer is used');
  const { rows } = await operator.call('payments', { state: 'in_flight', limit: PAYMENTS_MAX });
  const lines = networks.map(async ({ chainId, rpcUrl }) => {
    const wallet = connectRelayerWallet({ chainId, rpcUrl, rpcTimeoutMs: options.rpcTimeoutMs, key });
    const [{ balanceWei, transfers }, waiting] = await Promise.all([wallet.funds(), wallet.waiting()]);
    const open = rows.filter((row) => row.chain_id === chainId).length;
    return [
      `${caip2(chainId)}  ${wallet.address}`,
      `  balance   ${formatEther(balanceWei)} ether, enough for ${transfers} transfers at the present fee`,
      `  waiting   ${waiting} transactions without a block, as the RPC counts them`,
      `  payments  ${open} in flight`,
    ].join('\n');
  });
  return (await Promise.all(lines)).join('\n');
}
