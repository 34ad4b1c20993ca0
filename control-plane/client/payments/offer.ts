// The offers of a 402, in any of the three protocols, and the limits of the caller.
import type { ChainId } from '#shared/api/chain-id.ts';
import { NETWORKS } from '#shared/api/payment-networks.ts';
import type { Hex } from './account.ts';

export const isSameAddress = (one: Hex, other: Hex): boolean => one.toLowerCase() === other.toLowerCase();

/** Longest validity of an authorization. A service that asks for more could take the money long after it refused the payment. */
export const LIFETIME_SECONDS_MAX = 86_400;

export interface Offer {
  chainId: ChainId;
  asset: Hex;
  payTo: Hex;
  /** Smallest units. */
  amount: bigint;
  maxTimeoutSeconds: number;
  /** EIP-712 domain of the token. */
  domain: { name: string; version: string };
}

export interface SpendLimit {
  /** Maximum payment in the asset's smallest units: 1_800_000_000n is 1800 dollars of USDC. */
  maxAmount: bigint;
  /** Chains to pay on; by default all known ones. */
  chainIds?: readonly ChainId[] | undefined;
  /** Tokens other than USDC that may be paid. They must be named, because their units have another value. */
  assets?: readonly Hex[] | undefined;
}

export class NotPayableError extends Error {
  override name = 'NotPayableError';
}

/** The first offer within the limit. Throws `NotPayableError`; then nothing was signed. */
export function payableOffer<T extends { offer: Offer }>(found: readonly T[], limit: SpendLimit): T {
  const allowed = found.filter(({ offer }) => isAllowed(offer, limit));
  const payable = allowed.find(({ offer }) => offer.amount <= limit.maxAmount);
  if (payable !== undefined) return payable;
  const [dear] = allowed;
  throw new NotPayableError(
    dear === undefined
      ? 'the service offers no payment that this client can make'
      : `the service asks for ${shown(dear.offer.amount, dear.offer)}, more than the maximum of ${shown(limit.maxAmount, dear.offer)}`,
  );
}

/** Dollars of USDC: 1,800 or 0.5. Other tokens have other units, so their amounts are in the smallest ones. */
function shown(amount: bigint, { chainId, asset }: Offer): string {
  const { usdc } = NETWORKS[chainId];
  if (!isSameAddress(usdc.address, asset)) return `${amount} units of ${asset}`;
  const whole = (amount / 1_000_000n).toLocaleString('en-US');
  const fraction = String(amount % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${whole}${fraction === '' ? '' : `.${fraction}`} USDC`;
}

function isAllowed({ chainId, asset }: Offer, { chainIds, assets = [] }: SpendLimit): boolean {
  if (chainIds !== undefined && !chainIds.includes(chainId)) return false;
  return [NETWORKS[chainId].usdc.address, ...assets].some((allowed) => isSameAddress(allowed, asset));
}

/** A response before its status is checked. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  json: unknown;
}
