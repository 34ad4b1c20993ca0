// The accounts of the relayer on each chain, as its RPC and the ledger report them.
import { formatEther, getAddress, isAddressEqual } from 'viem';
import { caip2 } from '#shared/api/payment-networks.ts';
import type { Json } from '#shared/operator/procedure.ts';
import type { Config } from '../config/config.ts';
import { paymentNetworksOf } from '../config/payments-file.ts';
import { relayerKeysOf } from '../config/relayer-options.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import type { PaymentNetwork } from '../payments/offer.ts';
import { connectRelayerWallets, type RelayerKeys, type RelayerWallet } from '../payments/relayer-wallet.ts';
import type { RelayedPayments } from '../store/money/relayed-payments.ts';
import type { Operator } from './procedures/all-procedures.ts';

/** Where the chains are asked. */
export type StatusOptions = Parameters<typeof paymentNetworksOf>[0] & Pick<Config, 'rpcTimeoutMs'>;

/** Text for people. Throws `OperatorRefusal` without a key. Rejects when an RPC cannot be reached. */
export async function shownRelayers(
  operator: Operator,
  options: StatusOptions & Parameters<typeof relayerKeysOf>[0],
): Promise<string> {
  const keys = relayerKeysOf(options);
  if (keys === undefined)
    throw new OperatorRefusal('There is no relayer. Set RELAYER_KEY_FILE, as the service has it.');
  return shownAccounts(operator, keys, options);
}

/** All accounts with these keys, and those that still have payments under way. */
export async function shownAccounts(
  operator: Operator,
  keys: RelayerKeys,
  { rpcTimeoutMs, ...options }: StatusOptions,
): Promise<string> {
  const networks = relayedNetworks(options, keys);
  const relayed = await operator.call('relayedPayments', {});
  const lines = networks.map(async ({ chainId, rpcUrl }) => {
    const here = relayed.filter((payments) => payments.chainId === chainId);
    const { present, former } = connectRelayerWallets({ chainId, rpcUrl, rpcTimeoutMs }, keys);
    const wallets = [present, ...former];
    const known = wallets.map((wallet) =>
      shownAccount(
        wallet,
        `${caip2(chainId)}  ${wallet.address}${wallet === present ? '' : '  former'}`,
        here,
      ),
    );
    const keyless = here
      .filter(({ sender }) => !wallets.some((wallet) => isSenderOf(wallet, sender)))
      .map(
        (payments) =>
          `${caip2(chainId)}  ${getAddress(payments.sender)}  its key is not given: set RELAYER_FORMER_KEY_FILE\n  payments  ${shownPayments(payments)}`,
      );
    return [...(await Promise.all(known)), ...keyless].join('\n');
  });
  return (await Promise.all(lines)).join('\n');
}

/** Throws `OperatorRefusal` if there are none. */
export function relayedNetworks(
  options: Parameters<typeof paymentNetworksOf>[0],
  keys: RelayerKeys,
): PaymentNetwork[] {
  const networks = paymentNetworksOf(options, keys).filter(
    ({ facilitatorUrl }) => facilitatorUrl === undefined,
  );
  if (networks.length === 0)
    throw new OperatorRefusal('Facilitators submit all transfers: no relayer is used.');
  return networks;
}

async function shownAccount(
  wallet: RelayerWallet,
  head: string,
  relayed: readonly Json<RelayedPayments>[],
): Promise<string> {
  const [{ balanceWei, transfers }, waiting] = await Promise.all([wallet.funds(), wallet.waiting()]);
  const payments = relayed.find(({ sender }) => isSenderOf(wallet, sender));
  return [
    head,
    `  balance   ${formatEther(balanceWei)} ether, enough for ${transfers} transfers at the present fee`,
    `  waiting   ${waiting} transactions without a block, as the RPC counts them`,
    `  payments  ${shownPayments(payments)}`,
  ].join('\n');
}

const shownPayments = ({ inFlight, notFinal }: Partial<Json<RelayedPayments>> = {}): string =>
  `${inFlight ?? 0} in flight, ${notFinal ?? 0} settled but not final`;

const isSenderOf = ({ address }: RelayerWallet, sender: string): boolean =>
  isAddressEqual(address, getAddress(sender));
