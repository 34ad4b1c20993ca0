// x402 payloads, versions 1 and 2, scheme "exact" on EVM: the offer they pay, and the transfer they authorize.
import { isAddressEqual } from 'viem';
import * as z from 'zod';
import { caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import { paymentIdSchema } from '#shared/api/x402-extensions.ts';
import { Refusal } from '../domain/refusal.ts';
import {
  addressSchema,
  authorizationSchema,
  checkKey,
  checkTerms,
  type PossiblePayments,
  type SignedPayment,
  uintSchema,
} from './authorization.ts';
import type { Offer } from './offer.ts';
import { malformed, PaymentRejected, unsupportedNetwork } from './rejection.ts';

/** Longest accepted header. Real ones have about 650 characters (v1), or 5,000 with the extensions of the 402, which clients of v2 repeat. */
const HEADER_CHARACTERS_MAX = 12_288;

const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/;

const payloadSchema = z.object({ signature: z.string(), authorization: authorizationSchema });

const envelopeV1Schema = z.object({
  x402Version: z.literal(1),
  scheme: z.string(),
  network: z.string(),
  payload: payloadSchema,
});

const envelopeV2Schema = z.object({
  x402Version: z.literal(2),
  accepted: z.object({
    scheme: z.string(),
    network: z.string(),
    amount: uintSchema,
    asset: addressSchema,
    payTo: addressSchema,
    extra: z.object({ name: z.string(), version: z.string() }).partial().optional(),
  }),
  payload: payloadSchema,
  extensions: z
    .object({ 'payment-identifier': z.object({ info: z.object({ id: z.unknown() }) }) })
    .optional()
    .catch(undefined),
});

interface X402Credential {
  version: 1 | 2;
  payments: PossiblePayments;
  /** The payer's secret name for the payment (extension `payment-identifier`). */
  identifier?: string | undefined;
}

/**
 * Reads an `X-PAYMENT` or `PAYMENT-SIGNATURE` header of the version that it states. Checks it against the offers and the payer's key, but not
 * against the clock: an expired payment may have been used before. Throws `PaymentRejected`; `Refusal` `invalid_request` for a malformed
 * identifier.
 */
export async function readX402(header: string, offers: readonly Offer[]): Promise<X402Credential> {
  const json = decode(header);
  const version = z.object({ x402Version: z.number() }).safeParse(json).data?.x402Version;
  if (version === 1) return readV1(parse(envelopeV1Schema, json), offers);
  if (version === 2) return readV2(parse(envelopeV2Schema, json), offers);
  throw new PaymentRejected(version === undefined ? 'invalid_encoding' : 'unsupported_version', {
    field: 'x402Version',
  });
}

// Version 1 does not name the token: the signature shows it.
async function readV1(
  { scheme, network, payload }: z.output<typeof envelopeV1Schema>,
  offers: readonly Offer[],
): Promise<X402Credential> {
  if (scheme !== 'exact') throw new PaymentRejected('unsupported_scheme', { field: 'scheme' });
  const ofNetwork = offers.filter(({ chainId }) => NETWORKS[chainId].network === network);
  if (ofNetwork.length === 0)
    throw unsupportedNetwork(offers, ({ chainId }) => NETWORKS[chainId].network, 'network');
  const { signature, authorization } = payload;
  const ofAccount: SignedPayment[] = [];
  let rejection = new PaymentRejected('invalid_signature');
  for (const offer of ofNetwork) {
    try {
      checkTerms(authorization, offer);
      const payment = await checkKey({ ...authorization, signature }, offer);
      if (payment.authorization.signedBy === 'key') return { version: 1, payments: [payment] };
      ofAccount.push(payment);
    } catch (error) {
      if (!(error instanceof PaymentRejected)) throw error;
      rejection = error;
    }
  }
  const [first, ...others] = ofAccount;
  if (first === undefined) throw rejection;
  return { version: 1, payments: [first, ...others] };
}

async function readV2(
  { accepted, payload, extensions }: z.output<typeof envelopeV2Schema>,
  offers: readonly Offer[],
): Promise<X402Credential> {
  if (accepted.scheme !== 'exact')
    throw new PaymentRejected('unsupported_scheme', { field: 'accepted.scheme' });
  const ofNetwork = offers.filter(({ chainId }) => caip2(chainId) === accepted.network);
  if (ofNetwork.length === 0)
    throw unsupportedNetwork(offers, ({ chainId }) => caip2(chainId), 'accepted.network');
  const offer = ofNetwork.find(({ asset }) => isAddressEqual(asset, accepted.asset));
  if (offer === undefined) throw new PaymentRejected('unsupported_asset', { field: 'accepted.asset' });
  checkTerms({ to: accepted.payTo, value: accepted.amount }, offer);
  const { name = offer.assetName, version = offer.assetVersion } = accepted.extra ?? {};
  if (name !== offer.assetName || version !== offer.assetVersion) throw new PaymentRejected('invalid_domain');
  checkTerms(payload.authorization, offer);
  const signed = { ...payload.authorization, signature: payload.signature };
  const identifier = identifierOf(extensions?.['payment-identifier'].info.id);
  return { version: 2, payments: [await checkKey(signed, offer)], identifier };
}

function identifierOf(id: unknown): string | undefined {
  if (id === undefined) return undefined;
  const parsed = paymentIdSchema.safeParse(id);
  if (parsed.success) return parsed.data;
  throw new Refusal(
    'invalid_request',
    'The id of the extension payment-identifier must be 16 to 128 letters, digits, "-" or "_". Nothing was charged.',
    { details: { field: 'extensions.payment-identifier.info.id' } },
  );
}

function decode(header: string): unknown {
  if (header.length > HEADER_CHARACTERS_MAX || !BASE64_PATTERN.test(header)) {
    throw new PaymentRejected('invalid_encoding');
  }
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch (cause) {
    throw new PaymentRejected('invalid_encoding', { cause });
  }
}

function parse<S extends z.ZodType>(schema: S, json: unknown): z.output<S> {
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw malformed(parsed.error);
  return parsed.data;
}
