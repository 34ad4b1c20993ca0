// The offers of a 402, in any of the three protocols, and the limits of the caller.
import type { Address } from 'viem';
import * as z from 'zod';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';

export const amountSchema = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt);

/** Accepts any letter case; the result is lower case, so no checksum is expected of it. */
export const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text): Address => text.toLowerCase() as Address);

export const isSameAddress = (one: Address, other: Address): boolean =>
  one.toLowerCase() === other.toLowerCase();

export interface Offer {
  chainId: ChainId;
  asset: Address;
  payTo: Address;
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
  assets?: readonly Address[] | undefined;
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
      : `the service asks for ${dear.offer.amount}, more than the ${limit.maxAmount} allowed`,
  );
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
