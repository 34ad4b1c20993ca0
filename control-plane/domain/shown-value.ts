// An amount of a token as people write it.
import { formatUnits, getAddress, isAddressEqual } from 'viem';
import { NETWORKS } from '#shared/api/payment-networks.ts';

/** In dollars where the token is the network's USDC, otherwise in the smallest unit of the token. */
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
