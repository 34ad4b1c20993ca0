// An EIP-3009 authorization as payers sign it: its form, its signer, its time. No chain is asked.
import {
  type Address,
  getAddress,
  type Hex,
  hexToNumber,
  isAddressEqual,
  recoverTypedDataAddress,
  slice,
} from 'viem';
import { z } from 'zod';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/transfer-authorization.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, type Offer } from './offer.ts';
import type { TransferAuthorization } from './payment.ts';
import { PaymentRejected } from './rejection.ts';

/** An authorization that ends sooner may end before it is mined. */
const EXPIRY_MARGIN_SECONDS = 10;

/**
 * No honest client asks for longer: the challenge says 300 s. One that never ends could be settled long
 * after the payer has forgotten it.
 */
const LIFETIME_SECONDS_MAX = 24 * 60 * 60;

/** Half the order of secp256k1: a signature with a higher s is a second form of another one (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

export const uintSchema = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((value) => value < 2n ** 256n);

/** Any letter case; comes out checksummed. */
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

/** What the payer signed, for whatever token. */
export type SignedAuthorization = z.output<typeof authorizationSchema> & { signature: string };

/** Throws `PaymentRejected` unless it pays the offer: its payee, and exactly its amount. */
export function checkTerms(terms: { to: Address; value: bigint }, offer: Offer): void {
  if (!isAddressEqual(terms.to, offer.payTo)) throw new PaymentRejected('invalid_payee');
  if (terms.value !== offer.amountAtomic) throw new PaymentRejected('invalid_amount');
}

/** The authorization for the offer's token. Throws `PaymentRejected` unless the payer signed it for that. */
export async function checkSignature(
  { signature: text, ...message }: SignedAuthorization,
  offer: Offer,
): Promise<TransferAuthorization> {
  const signature = normalizeSignature(text);
  const signer = await recoverTypedDataAddress({
    domain: {
      name: offer.assetName,
      version: offer.assetVersion,
      chainId: offer.chainId,
      verifyingContract: offer.asset,
    },
    types: TRANSFER_WITH_AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
    signature,
  }).catch(() => undefined);
  if (signer === undefined || !isAddressEqual(signer, message.from)) {
    throw new PaymentRejected('invalid_signature');
  }
  return { ...message, signature, chainId: offer.chainId, asset: offer.asset };
}

/** Throws `PaymentRejected` unless there is time to settle, and not absurdly much. */
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

// The token takes v 27 or 28 only and refuses high s; some wallets write v as 0 or 1.
function normalizeSignature(text: string): Hex {
  const parsed = hexSchema(65).safeParse(text);
  if (!parsed.success) throw new PaymentRejected('invalid_signature');
  const signature = parsed.data;
  const v = hexToNumber(slice(signature, 64, 65));
  const recoveryByte = v < 2 ? v + 27 : v;
  const isMalleable = BigInt(slice(signature, 32, 64)) > S_MAX;
  if (isMalleable || (recoveryByte !== 27 && recoveryByte !== 28)) {
    throw new PaymentRejected('invalid_signature');
  }
  return `${slice(signature, 0, 64)}${recoveryByte.toString(16)}` as Hex;
}
