// The chains that payment clients know, the dollar of each, and what a payer signs to move it.
import type { ChainId } from './chain-id.ts';

export type { ChainId };

interface KnownNetwork {
  /** Its name in x402 v1; a client of v1 refuses any other. */
  network: string;
  /** Circle's dollar there, and what it calls itself in signatures (EIP-712). */
  usdc: { address: `0x${string}`; decimals: number; domain: { name: string; version: string } };
}

export const NETWORKS = {
  8453: {
    network: 'base',
    usdc: {
      address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      decimals: 6,
      domain: { name: 'USD Coin', version: '2' },
    },
  },
  84532: {
    network: 'base-sepolia',
    usdc: {
      address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
      decimals: 6,
      domain: { name: 'USDC', version: '2' },
    },
  },
} as const satisfies Record<ChainId, KnownNetwork>;

/**
 * For an RPC without a `safe` block: a block with this many blocks on top is final. On Base that is 2 minutes; deeper reorganizations have
 * not been seen there.
 */
export const SAFE_DEPTH_BLOCKS = 64;

export const CHAIN_IDS = Object.keys(NETWORKS).map(Number) as ChainId[];

/** CAIP-2. */
export const caip2 = (chainId: ChainId): string => `eip155:${chainId}`;

/** The typed data (EIP-712) that lets the service move the payer's dollars: EIP-3009, `TransferWithAuthorization`. */
export const TRANSFER_WITH_AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;
