// What the service sells, for how much, and in what it is paid: the one place that checks and challenges read.
import type { Address } from 'viem';

/** x402 v1 names of the chains that payment clients know (a client of v1 refuses any other name). */
export const NETWORKS = {
  8453: { network: 'base', usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  84532: { network: 'base-sepolia', usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
} as const satisfies Record<number, { network: string; usdc: Address }>;

export type ChainId = keyof typeof NETWORKS;

/** One way to pay. */
export interface Offer {
  chainId: ChainId;
  /** The token contract. */
  asset: Address;
  /** EIP-712 domain of the token, read from the chain at start. */
  assetName: string;
  assetVersion: string;
  assetDecimals: number;
  payTo: Address;
  /** Smallest units. */
  amountAtomic: bigint;
}

/** What is sold, with every way to pay for it; the first is the one that clients without a wish take. */
export interface Sale {
  /** Absolute URL of the thing that is sold. */
  resource: string;
  description: string;
  /** Protection space of MPP challenges (RFC 9110 §11.5): the host of the service. */
  realm: string;
  /** Key of the HMAC that makes MPP challenges ours. */
  challengeSecret: string;
  offers: readonly Offer[];
}

/** Time that a payer gets between challenge and credential. */
export const AUTHORIZATION_TIMEOUT_SECONDS = 300;

/** CAIP-2. */
export const caip2 = (chainId: ChainId): string => `eip155:${chainId}`;
