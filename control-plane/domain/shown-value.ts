// Formats an amount of a token.
import { formatUnits, getAddress, isAddressEqual } from 'viem';
import { NETWORKS } from '#shared/api/payment-networks.ts';

/** In dollars if the token is the network's USDC, else in the token's smallest unit. */
export function shownValue({
  asset,
  chain_id,
  value,
}: {
  asset: string;
  chain_id: number;
  value: string;
}): string {
  const usdc = Object.entries(NETWORKS).find(([chainId]) => chainId === String(chain_id))?.[1].usdc.address;
  if (usdc !== undefined && isAddressEqual(usdc, getAddress(asset)))
    return `${formatUnits(BigInt(value), 6)} USDC`;
  return `${value} of ${getAddress(asset)}`;
}
