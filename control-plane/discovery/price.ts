// What a year costs, as people read it.
import { formatUnits } from 'viem';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import type { Offer } from '../payments/offer.ts';

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

/** "1,800 USDC". */
export function priceText({ amountAtomic, asset, assetDecimals, assetName, chainId }: Offer): string {
  const isUsdc = asset.toLowerCase() === NETWORKS[chainId].usdc.address.toLowerCase();
  return `${NUMBER.format(Number(formatUnits(amountAtomic, assetDecimals)))} ${isUsdc ? 'USDC' : assetName}`;
}
