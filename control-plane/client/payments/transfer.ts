// Signs an EIP-3009 authorization for an offer: no gas, no RPC.
import { bytesToHex } from '@noble/hashes/utils';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/payment-networks.ts';
import type { Account, Hex } from './account.ts';
import type { Offer } from './offer.ts';

/** Clocks differ: the authorization is valid from a little before now. */
const BACKDATE_SECONDS = 600;

export interface SignedTransfer {
  signature: Hex;
  authorization: {
    from: Hex;
    to: Hex;
    value: string;
    validAfter: string;
    validBefore: string;
    nonce: Hex;
  };
}

interface TransferTerms {
  nowSeconds: number;
  /** Set if the protocol prescribes them. */
  nonce?: Hex;
  validBefore?: number;
}

export async function signTransfer(
  account: Account,
  offer: Offer,
  { nowSeconds, nonce = randomNonce(), validBefore }: TransferTerms,
): Promise<SignedTransfer> {
  const message = {
    from: account.address,
    to: offer.payTo,
    value: offer.amount,
    validAfter: BigInt(nowSeconds - BACKDATE_SECONDS),
    validBefore: BigInt(validBefore ?? nowSeconds + offer.maxTimeoutSeconds),
    nonce,
  };
  const signature = await account.signTypedData({
    domain: { ...offer.domain, chainId: offer.chainId, verifyingContract: offer.asset },
    types: { TransferWithAuthorization: [...TRANSFER_WITH_AUTHORIZATION_TYPES.TransferWithAuthorization] },
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const { value, validAfter, validBefore: until, ...texts } = message;
  const authorization = {
    ...texts,
    value: String(value),
    validAfter: String(validAfter),
    validBefore: String(until),
  };
  return { signature, authorization };
}

const randomNonce = (): Hex => `0x${bytesToHex(crypto.getRandomValues(new Uint8Array(32)))}`;
