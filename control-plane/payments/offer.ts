// The service's product, its price and its payment options: checks and challenges read them only here.
import { type Address, formatUnits, type Hex } from 'viem';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';
import type { SignedStatement } from '#shared/api/x402-extensions.ts';

/** A network as an operator configures it. */
export interface PaymentNetwork {
  chainId: ChainId;
  rpcUrl: string;
  /** An x402 facilitator that puts transfers on the chain instead of our relayer. */
  facilitatorUrl: string | undefined;
  assets: readonly PaymentAsset[];
}

/** A token that the service takes, and the price in it. The first of all is the default for clients. */
export interface PaymentAsset {
  asset: Address;
  payTo: Address;
  /** Smallest units. */
  amountAtomic: bigint;
  /** The name that the token must report, if it is known. */
  name?: string;
  version?: string;
}

/** One payment option. */
export interface Offer {
  chainId: ChainId;
  /** The token contract. */
  asset: Address;
  /** EIP-712 domain of the token, as its chain reports it. */
  assetName: string;
  assetVersion: string;
  assetDecimals: number;
  payTo: Address;
  /** Smallest units. */
  amountAtomic: bigint;
}

/** The product with all payment options. Clients without a preference take the first. */
export interface Sale {
  /** Absolute URL of the resource that is sold. */
  resource: string;
  description: string;
  serviceName: string;
  /** Protection space of MPP challenges (RFC 9110 §11.5): the host of the service. */
  realm: string;
  /** Key of the HMAC that authenticates MPP challenges. */
  challengeSecret: string;
  /** The known offers. Those of a closed network are not in the 402. */
  readonly offers: readonly Offer[];
}

/** Signs offers and settled payments (extension `offer-receipt` of x402). It signs nothing without its key, and never rejects. */
export interface PaymentSigner {
  /** A statement for each open offer. */
  offers(sale: Sale): Promise<readonly SignedStatement[]>;
  receipt(sale: Sale, paid: PaidTransfer): Promise<SignedStatement | undefined>;
}

export interface PaidTransfer {
  chainId: Offer['chainId'];
  payer: Address;
  transaction: Hex;
}

/** Time between challenge and credential. */
export const AUTHORIZATION_TIMEOUT_SECONDS = 300;

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

/** "1800". */
export const priceUnits = ({ amountAtomic, assetDecimals }: Offer): string =>
  formatUnits(amountAtomic, assetDecimals);

/** "1,800 USDC or 1,750 Other Dollar". */
export const pricesText = (offers: readonly Offer[]): string =>
  offers.map(priceText).join(' or ') || 'see the 402 response for the price';

/** "1,800 USDC". */
export function priceText(offer: Offer): string {
  const { asset, assetName, chainId } = offer;
  const isUsdc = asset.toLowerCase() === NETWORKS[chainId].usdc.address.toLowerCase();
  return `${NUMBER.format(Number(priceUnits(offer)))} ${isUsdc ? 'USDC' : assetName}`;
}
