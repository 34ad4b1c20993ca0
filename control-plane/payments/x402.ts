// The X-PAYMENT header: decoding (x402 v1, scheme "exact" on EVM) and every check that needs no chain.
import { getAddress, type Hex, hexToNumber, isAddressEqual, recoverTypedDataAddress, slice } from 'viem';
import { z } from 'zod';
import { TRANSFER_WITH_AUTHORIZATION_TYPES } from '#shared/api/transfer-authorization.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, NETWORKS, type Offer } from './offer.ts';
import type { TransferAuthorization } from './payment.ts';
import { PaymentRejected } from './rejection.ts';

/** Longest header that is looked at; a real one has about 650 characters. */
const HEADER_CHARACTERS_MAX = 8_192;

const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/;

/** An authorization that ends sooner may end before it is mined. */
const EXPIRY_MARGIN_SECONDS = 10;

/**
 * No honest client asks for longer: the challenge says 300 s. One that never ends could be settled long
 * after the payer has forgotten it.
 */
const LIFETIME_SECONDS_MAX = 24 * 60 * 60;

/** Half the order of secp256k1: a signature with a higher s is a second form of another one (EIP-2). */
const S_MAX = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const uintSchema = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
  .refine((value) => value < 2n ** 256n);
const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform((text) => getAddress(text.toLowerCase()));
const hexSchema = (bytes: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    .transform((text) => text.toLowerCase() as Hex);

const payloadSchema = z.object({
  x402Version: z.literal(1),
  scheme: z.literal('exact'),
  network: z.string(),
  payload: z.object({
    signature: z.string(),
    authorization: z.object({
      from: addressSchema,
      to: addressSchema,
      value: uintSchema,
      validAfter: uintSchema,
      validBefore: uintSchema,
      nonce: hexSchema(32),
    }),
  }),
});

/**
 * Reads the header and checks it against the offer and its signature, but not against the clock: what is
 * expired may have been used before. Throws `PaymentRejected`.
 */
export async function readPaymentHeader(header: string, offer: Offer): Promise<TransferAuthorization> {
  const { network, payload } = decode(header);
  if (network !== NETWORKS[offer.chainId].network) throw new PaymentRejected('unsupported_network');
  const { authorization } = payload;
  if (!isAddressEqual(authorization.to, offer.payTo)) throw new PaymentRejected('invalid_payee');
  if (authorization.value !== offer.amountAtomic) throw new PaymentRejected('invalid_amount');
  const signature = normalizeSignature(payload.signature);
  const signed = { ...authorization, signature, chainId: offer.chainId, asset: offer.asset };
  if (!(await isSignedByPayer(signed, offer))) throw new PaymentRejected('invalid_signature');
  return signed;
}

function decode(header: string): z.output<typeof payloadSchema> {
  if (header.length > HEADER_CHARACTERS_MAX || !BASE64_PATTERN.test(header)) {
    throw new PaymentRejected('invalid_encoding');
  }
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch (cause) {
    throw new PaymentRejected('invalid_encoding', { cause });
  }
  const version = z.object({ x402Version: z.number() }).safeParse(json);
  if (version.success && version.data.x402Version !== 1) throw new PaymentRejected('unsupported_version');
  const parsed = payloadSchema.safeParse(json);
  if (!parsed.success) throw new PaymentRejected('invalid_encoding', { cause: parsed.error });
  return parsed.data;
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
  if (isMalleable || (recoveryByte !== 27 && recoveryByte !== 28))
    throw new PaymentRejected('invalid_signature');
  return `${slice(signature, 0, 64)}${recoveryByte.toString(16)}` as Hex;
}

async function isSignedByPayer(authorization: TransferAuthorization, offer: Offer): Promise<boolean> {
  const { signature, ...message } = authorization;
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
  return signer !== undefined && isAddressEqual(signer, authorization.from);
}
