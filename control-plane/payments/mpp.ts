// MPP, method "evm", intent "charge", EIP-3009 authorizations (draft-httpauth-payment-00, draft-evm-charge-00).
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isAddressEqual, keccak256, stringToBytes } from 'viem';
import * as z from 'zod';
import {
  addressSchema,
  authorizationSchema,
  checkKey,
  checkTerms,
  type PossiblePayments,
  uintSchema,
} from './authorization.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, type Offer, type Sale } from './offer.ts';
import { malformed, PaymentRejected, unsupportedNetwork } from './rejection.ts';

const METHOD = 'evm';
const INTENT = 'charge';

/** Longest accepted credential; a real one has about 1400 characters. */
const CREDENTIAL_CHARACTERS_MAX = 8_192;

const BASE64URL_PATTERN = /^[A-Za-z0-9_-]+$/;

/** The signed fields of a challenge, as they are on the wire. */
interface ChallengeFields {
  realm: string;
  method: string;
  intent: string;
  request: string;
  expires: string;
  opaque: string;
}

const credentialSchema = z.object({
  challenge: z.object({
    id: z.string(),
    realm: z.string(),
    method: z.string(),
    intent: z.string(),
    request: z.string(),
    expires: z.iso.datetime(),
    opaque: z.string().default(''),
  }),
  payload: authorizationSchema.extend({ type: z.string(), signature: z.string() }),
});

const requestSchema = z.object({
  amount: uintSchema,
  currency: addressSchema,
  recipient: addressSchema,
  methodDetails: z.object({ chainId: z.number() }),
});

/** The value of a `WWW-Authenticate` header that offers this payment. */
export function mppChallenge(offer: Offer, sale: Sale, now: Date): string {
  const expires = new Date(now.getTime() + AUTHORIZATION_TIMEOUT_SECONDS * 1000).toISOString();
  const fields: ChallengeFields = {
    realm: sale.realm,
    method: METHOD,
    intent: INTENT,
    expires,
    // Sorted keys, no spaces: clients serialize it again before they sign (RFC 8785).
    request: base64url({
      amount: String(offer.amountAtomic),
      currency: offer.asset,
      methodDetails: {
        chainId: offer.chainId,
        credentialTypes: ['authorization'],
        decimals: offer.assetDecimals,
      },
      recipient: offer.payTo,
    }),
    // The payer's nonce is derived from the id: two challenges of one millisecond must differ.
    opaque: base64url({ n: randomBytes(16).toString('hex') }),
  };
  const { realm, method, intent, request, opaque } = fields;
  const parameters = {
    id: idOf(fields, sale.challengeSecret),
    realm,
    method,
    intent,
    request,
    expires,
    opaque,
  };
  return `Payment ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
}

/**
 * Reads the credential of an `Authorization: Payment` header. Checks the payer's key and that it answers one of our challenges for a present
 * offer, but not the clock. Throws `PaymentRejected`.
 */
export async function readMpp(
  credential: string,
  sale: Sale,
): Promise<{ payments: PossiblePayments; challengeId: string }> {
  const { challenge, payload } = decode(credentialSchema, credential);
  if (challenge.method !== METHOD || challenge.intent !== INTENT || payload.type !== 'authorization') {
    throw new PaymentRejected('unsupported_method');
  }
  const { id, realm } = challenge;
  if (realm !== sale.realm || !isEqual(id, idOf(challenge, sale.challengeSecret))) {
    throw new PaymentRejected('invalid_challenge');
  }
  const request = decode(requestSchema, challenge.request);
  const ofChain = sale.offers.filter(({ chainId }) => chainId === request.methodDetails.chainId);
  if (ofChain.length === 0) throw unsupportedNetwork(sale.offers, ({ chainId }) => chainId);
  const offer = ofChain.find(({ asset }) => isAddressEqual(asset, request.currency));
  if (offer === undefined) throw new PaymentRejected('unsupported_asset');
  // The price may have changed since.
  checkTerms({ to: request.recipient, value: request.amount }, offer);
  checkTerms(payload, offer);
  const { type: _, ...authorization } = payload;
  const isBound = authorization.nonce === keccak256(stringToBytes(`${id}${realm}`));
  const endsWithIt = authorization.validBefore <= BigInt(Math.ceil(Date.parse(challenge.expires) / 1000));
  if (!isBound || !endsWithIt) throw new PaymentRejected('invalid_challenge');
  return { payments: [await checkKey(authorization, offer)], challengeId: id };
}

function idOf(fields: ChallengeFields, secret: string): string {
  const { realm, method, intent, request, expires, opaque } = fields;
  // The empty field is the digest of a body, which does not exist.
  const text = [realm, method, intent, request, expires, '', opaque].join('|');
  return createHmac('sha256', secret).update(text).digest('base64url');
}

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode<S extends z.ZodType>(schema: S, text: string): z.output<S> {
  if (text.length > CREDENTIAL_CHARACTERS_MAX || !BASE64URL_PATTERN.test(text)) {
    throw new PaymentRejected('invalid_encoding');
  }
  try {
    return schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (cause) {
    throw malformed(cause);
  }
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
