// Checks of an EIP-3009 authorization as payers sign it: its form, its signer, its validity period. Only an account's signature needs the
// chain.
import { type Address, getAddress, type Hex, hashTypedData, isAddressEqual } from 'viem';
import * as z from 'zod';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/payment-networks.ts';
import type { TransferAuthorization } from '../domain/transfer-authorization.ts';
import { canonicalSignature } from '../signatures/signature-form.ts';
import { signers } from '../signatures/signer-pool.ts';
import { type AccountSignatures, signatureBytes } from './chain/account-signature.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, type Offer } from './offer.ts';
import { notSigned, PaymentRejected, unavailable } from './rejection.ts';

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
  if (terms.value !== offer.amountAtomic)
    throw new PaymentRejected('invalid_amount', {
      meaning: `The amount is ${terms.value}. It must be exactly the price, ${offer.amountAtomic}, in the smallest units of the token.`,
    });
}

/** The contract accounts of each chain on which the service takes payments. */
type AccountsByChain = (chainId: number) => AccountSignatures | undefined;

/** A signed authorization for the offer's token. */
export interface SignedPayment {
  offer: Offer;
  /** `signedBy`: verified if it is a key; with `account`, the code of the payer's account has to decide. */
  authorization: TransferAuthorization;
  /** EIP-712 hash of the signed data. */
  digest: Hex;
}

/** One that a key has signed, or those of which the code of the payer's account may accept one. */
export type PossiblePayments = readonly [SignedPayment, ...SignedPayment[]];

/**
 * The authorization for the offer's token. Checks only whether the payer's key signed it, without the chain. Throws `PaymentRejected` if
 * neither a key nor an account can have made the signature; `Refusal` `overloaded` if it cannot be verified now.
 */
export async function checkKey(
  { signature: text, ...message }: SignedAuthorization,
  offer: Offer,
): Promise<SignedPayment> {
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
    return { offer, digest, authorization: { ...signed, signature: ofKey, signedBy: 'key' } };
  }
  const ofAccount = signatureBytes(text);
  if (ofAccount === undefined) throw notSigned(message.from, offer);
  return { offer, digest, authorization: { ...signed, signature: ofAccount, signedBy: 'account' } };
}

/**
 * The first of the payments that its payer has signed: one of a key is verified already, the code of an account is asked now. Throws
 * `PaymentRejected` if there is none; `Refusal` `settlement_unavailable` if the chain does not respond.
 */
export async function firstAccepted(
  payments: PossiblePayments,
  accounts: AccountsByChain,
): Promise<SignedPayment> {
  for (const payment of payments) {
    if (payment.authorization.signedBy === 'key' || (await isAccepted(payment, accounts))) return payment;
  }
  throw notSigned(payments[0].authorization.from, payments[0].offer);
}

async function isAccepted(
  { authorization: { chainId, from, signature }, digest }: SignedPayment,
  accounts: AccountsByChain,
): Promise<boolean> {
  try {
    return (await accounts(chainId)?.isAccepted(from, digest, signature)) ?? false;
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** The rejection of a payment whose time left is too short to settle or above the limit; undefined if the time is right. */
export function windowRejection(
  { validAfter, validBefore }: { validAfter: bigint; validBefore: bigint },
  now: Date,
): PaymentRejected | undefined {
  const nowSeconds = BigInt(Math.floor(now.getTime() / 1000));
  if (validAfter >= nowSeconds) return new PaymentRejected('authorization_not_yet_valid');
  if (validBefore <= nowSeconds + BigInt(EXPIRY_MARGIN_SECONDS))
    return new PaymentRejected('authorization_expired');
  if (validBefore > nowSeconds + BigInt(LIFETIME_SECONDS_MAX + AUTHORIZATION_TIMEOUT_SECONDS))
    return new PaymentRejected('authorization_too_long');
  return undefined;
}
