// What a 402 asks for, whichever of the three protocols says it, and whether the caller lets it be paid.
import type { Address } from 'viem';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';
import { isSameAddress } from './fields.ts';

export interface Offer {
  chainId: ChainId;
  asset: Address;
  payTo: Address;
  /** Smallest units. */
  amount: bigint;
  maxTimeoutSeconds: number;
  /** Of the token, for signatures (EIP-712). */
  domain: { name: string; version: string };
}

export interface SpendLimit {
  /** The most that is paid, in the asset's smallest units: 1_800_000_000n are 1800 dollars of USDC. */
  maxAmount: bigint;
  /** Chains that may be paid on; all that are known, where it is left out. */
  chainIds?: readonly ChainId[] | undefined;
  /** Tokens beside USDC: without naming them, units of another value would be paid. */
  assets?: readonly Address[] | undefined;
}

export class NotPayableError extends Error {
  override name = 'NotPayableError';
}

/** The first offer within the limit. Throws `NotPayableError`; nothing was signed then. */
export function payableOffer<T extends { offer: Offer }>(found: readonly T[], limit: SpendLimit): T {
  const allowed = found.filter(({ offer }) => isAllowed(offer, limit));
  const payable = allowed.find(({ offer }) => offer.amount <= limit.maxAmount);
  if (payable !== undefined) return payable;
  const [dear] = allowed;
  throw new NotPayableError(
    dear === undefined
      ? 'the service offers no payment that this client may make'
      : `the service asks for ${dear.offer.amount}, more than the ${limit.maxAmount} allowed`,
  );
}

function isAllowed({ chainId, asset }: Offer, { chainIds, assets = [] }: SpendLimit): boolean {
  if (chainIds !== undefined && !chainIds.includes(chainId)) return false;
  return [NETWORKS[chainId].usdc.address, ...assets].some((allowed) => isSameAddress(allowed, asset));
}
