// Signs an EIP-3009 authorization for an offer: no gas, no RPC.
import { randomBytes } from 'node:crypto';
import type { Address, Hex } from 'viem';
import type { LocalAccount } from 'viem/accounts';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/payment-networks.ts';
import type { Offer } from './offer.ts';

/** Clocks differ: the authorization is valid from a little before now. */
const BACKDATE_SECONDS = 600;

export interface SignedTransfer {
  signature: Hex;
  authorization: {
    from: Address;
    to: Address;
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
  account: LocalAccount,
  offer: Offer,
  { nowSeconds, nonce = `0x${randomBytes(32).toString('hex')}`, validBefore }: TransferTerms,
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
    types: TRANSFER_WITH_AUTHORIZATION_TYPES,
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
