// Checks of an EIP-3009 authorization as payers sign it: its form, its signer, its validity period. Only an account's signature needs the
// chain.
import { type Address, getAddress, type Hex, hashTypedData, isAddressEqual } from 'viem';
import * as z from 'zod';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/payment-networks.ts';
import { Refusal } from '../domain/refusal.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import { canonicalSignature } from '../signatures/signature-form.ts';
import { signers } from '../signatures/signer-pool.ts';
import { type AccountSignatures, signatureBytes } from './chain/account-signature.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, type Offer } from './offer.ts';
import { PaymentRejected, unavailable } from './rejection.ts';

/** An authorization that ends sooner may expire before it is mined. */
const EXPIRY_MARGIN_SECONDS = 10;

/** No honest client needs longer: the challenge says 300 s. One that never ends could be settled long after the payer has forgotten it. */
const LIFETIME_SECONDS_MAX = 24 * 60 * 60;

export const uintSchema = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((value) => value < 2n ** 256n);

/** Accepts any letter case; the result has the checksum. */
export const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => getAddress(text.toLowerCase()));

const hexSchema = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    .transform((text) => text.toLowerCase() as Hex);

export const authorizationSchema = z.object({
  from: addressSchema,
  to: addressSchema,
  value: uintSchema,
  validAfter: uintSchema,
  validBefore: uintSchema,
  nonce: hexSchema(32),
});

/** An authorization as the payer signed it, for any token. */
type SignedAuthorization = z.output<typeof authorizationSchema> & { signature: string };

/** Throws `PaymentRejected` unless it pays the offer's payee exactly the offer's amount. */
export function checkTerms(terms: { to: Address; value: bigint }, offer: Offer): void {
  if (!isAddressEqual(terms.to, offer.payTo)) throw new PaymentRejected('invalid_payee');
  if (terms.value !== offer.amountAtomic) throw new PaymentRejected('invalid_amount');
}

/** The contract accounts of each chain on which the service takes payments. */
export type AccountsByChain = (chainId: number) => AccountSignatures | undefined;

/**
 * The authorization for the offer's token. Throws `PaymentRejected` unless the payer's key signed it for that token, or the code of the
 * payer's account accepts it. Throws `Refusal` `overloaded` or `settlement_unavailable` if it cannot be verified now.
 */
export async function checkSignature(
  { signature: text, ...message }: SignedAuthorization,
  offer: Offer,
  accounts: AccountsByChain,
): Promise<TransferAuthorization> {
  const digest = hashTypedData({
    domain: {
      name: offer.assetName,
      version: offer.assetVersion,
      chainId: offer.chainId,
      verifyingContract: offer.asset,
    },
    types: TRANSFER_WITH_AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const signed = { ...message, chainId: offer.chainId, asset: offer.asset };
  const ofKey = canonicalSignature(text);
  if (
    ofKey !== undefined &&
    (await signers.isSignedBy({ signer: message.from, digests: [digest], signature: ofKey }))
  ) {
    return { ...signed, signature: ofKey, signedBy: 'key' };
  }
  const ofAccount = signatureBytes(text);
  if (ofAccount === undefined || !(await isAccepted(accounts, offer, message.from, digest, ofAccount))) {
    throw new PaymentRejected('invalid_signature');
  }
  return { ...signed, signature: ofAccount, signedBy: 'account' };
}

async function isAccepted(
  accounts: AccountsByChain,
  { chainId }: Offer,
  account: Address,
  digest: Hex,
  signature: Hex,
): Promise<boolean> {
  try {
    return (await accounts(chainId)?.isAccepted(account, digest, signature)) ?? false;
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw unavailable(cause);
  }
}

/** Throws `PaymentRejected` unless the time left is enough to settle and below the limit. */
export function checkWindow(window: { validAfter: bigint; validBefore: bigint }, now: Date): void {
  const nowSeconds = BigInt(Math.floor(now.getTime() / 1000));
  if (window.validAfter >= nowSeconds) throw new PaymentRejected('authorization_not_yet_valid');
  if (window.validBefore <= nowSeconds + BigInt(EXPIRY_MARGIN_SECONDS)) {
    throw new PaymentRejected('authorization_expired');
  }
  if (window.validBefore > nowSeconds + BigInt(LIFETIME_SECONDS_MAX + AUTHORIZATION_TIMEOUT_SECONDS)) {
    throw new PaymentRejected('authorization_too_long');
  }
}
