// What the service sells, for how much, and in what it is paid: the one place that checks and challenges read.
import type { Address } from 'viem';

interface KnownNetwork {
  /** Its name in x402 v1; a client of v1 refuses any other. */
  network: string;
  /** Circle's dollar there, and what it calls itself in signatures (EIP-712). */
  usdc: { address: Address; domain: { name: string; version: string } };
}

/** The chains that payment clients know. */
export const NETWORKS = {
  8453: {
    network: 'base',
    usdc: {
      address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      domain: { name: 'USD Coin', version: '2' },
    },
  },
  84532: {
    network: 'base-sepolia',
    usdc: { address: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', domain: { name: 'USDC', version: '2' } },
  },
} as const satisfies Record<number, KnownNetwork>;

export type ChainId = keyof typeof NETWORKS;

/** A network as an operator configures it. */
export interface PaymentNetwork {
  chainId: ChainId;
  rpcUrl: string;
  /** An x402 facilitator that puts the transfers on the chain, in place of our own relayer. */
  facilitatorUrl: string | undefined;
  assets: readonly PaymentAsset[];
}

/** A token that is taken, and for how much; the first of all is what clients without a wish pay in. */
export interface PaymentAsset {
  asset: Address;
  payTo: Address;
  /** Smallest units. */
  amountAtomic: bigint;
  /** What the token must call itself, where that is known. */
  name?: string;
  version?: string;
}

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
