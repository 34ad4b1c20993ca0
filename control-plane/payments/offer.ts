// What the service sells and for how much: the one place that payment checks and challenges read.
import type { Address } from 'viem';

/** x402 v1 names of the chains that payment clients know (a client of v1 refuses any other name). */
export const NETWORKS = {
  8453: { network: 'base', usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
  84532: { network: 'base-sepolia', usdc: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' },
} as const satisfies Record<number, { network: string; usdc: Address }>;

export type ChainId = keyof typeof NETWORKS;

export interface Offer {
  chainId: ChainId;
  /** The token contract. */
  asset: Address;
  /** EIP-712 domain of the token, read from the chain at start. */
  assetName: string;
  assetVersion: string;
  payTo: Address;
  /** Smallest units. */
  amountAtomic: bigint;
  /** Absolute URL of the thing that is sold. */
  resource: string;
}

/** Time that a payer gets between challenge and credential. */
export const AUTHORIZATION_TIMEOUT_SECONDS = 300;
