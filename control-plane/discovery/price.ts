// The price of a year, formatted for people.
import { formatUnits } from 'viem';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import type { Offer } from '../payments/offer.ts';

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

/** "1800". */
export const priceUnits = ({ amountAtomic, assetDecimals }: Offer): string =>
  formatUnits(amountAtomic, assetDecimals);

/** "1,800 USDC or 1,750 Other Dollar". */
export const pricesText = (offers: readonly Offer[]): string =>
  offers.map(priceText).join(' or ') || 'see the 402 response for the price';

/** "1,800 USDC". */
function priceText(offer: Offer): string {
  const { asset, assetName, chainId } = offer;
  const isUsdc = asset.toLowerCase() === NETWORKS[chainId].usdc.address.toLowerCase();
  return `${NUMBER.format(Number(priceUnits(offer)))} ${isUsdc ? 'USDC' : assetName}`;
}
