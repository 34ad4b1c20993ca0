// What the service sells, for how much, and in what it is paid: the one place that checks and challenges read.
import type { Address } from 'viem';
import type { ChainId } from '#shared/api/payment-networks.ts';

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
  /** EIP-712 domain of the token, as its chain has it. */
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
  /** As far as they are known; those of a network that is closed are not in the 402. */
  readonly offers: readonly Offer[];
}

/** Time that a payer gets between challenge and credential. */
export const AUTHORIZATION_TIMEOUT_SECONDS = 300;
