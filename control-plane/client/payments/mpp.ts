// Pays a 402 by MPP: method "evm", intent "charge", with an EIP-3009 authorization bound to the challenge.
import { keccak_256 } from '@noble/hashes/sha3';
import { bytesToHex } from '@noble/hashes/utils';
import * as z from 'zod';
import { CHAIN_IDS } from '#shared/api/payment-networks.ts';
import { jsonOf } from '#shared/json.ts';
import type { Hex } from './account.ts';
import { base64Url, textOfBase64 } from './base64.ts';
import { isSameAddress, LIFETIME_SECONDS_MAX, type Offer, type RawAnswer } from './offer.ts';
import { addressSchema, amountSchema } from './offer-fields.ts';
import type { SignedTransfer } from './transfer.ts';
import { offersV1 } from './x402.ts';

const challengeSchema = z.object({
  id: z.string().min(1),
  realm: z.string(),
  method: z.literal('evm'),
  intent: z.literal('charge'),
  request: z.string(),
  expires: z.iso.datetime(),
  opaque: z.string().optional(),
});

const requestSchema = z.object({
  amount: amountSchema,
  currency: addressSchema,
  recipient: addressSchema,
  methodDetails: z.object({ chainId: z.number(), credentialTypes: z.array(z.string()).optional() }),
});

interface MppOffer {
  offer: Offer;
  challenge: z.output<typeof challengeSchema>;
}

/** The challenges that an authorization of at most a day can pay. The token's domain is from the body. */
export function mppOffers(answer: RawAnswer, nowSeconds: number): MppOffer[] {
  const domains = offersV1(answer);
  return challengesOf(answer.headers.get('www-authenticate') ?? '').flatMap((parameters) => {
    const challenge = challengeSchema.safeParse(parameters);
    const request = requestSchema.safeParse(decoded(challenge.data?.request));
    if (!challenge.success || !request.success) return [];
    if (secondsOf(challenge.data.expires) > nowSeconds + LIFETIME_SECONDS_MAX) return [];
    const { amount, currency: asset, recipient: payTo, methodDetails } = request.data;
    const { credentialTypes = ['authorization'] } = methodDetails;
    const chainId = CHAIN_IDS.find((id) => id === methodDetails.chainId);
    const known = domains.find(
      ({ offer }) => offer.chainId === chainId && isSameAddress(offer.asset, asset),
    )?.offer;
    if (chainId === undefined || known === undefined || !credentialTypes.includes('authorization')) return [];
    return [{ challenge: challenge.data, offer: { ...known, chainId, asset, payTo, amount } }];
  });
}

/** The terms that bind an authorization to this challenge. */
export function mppTerms({ challenge: { id, realm, expires } }: MppOffer): {
  nonce: Hex;
  validBefore: number;
} {
  return {
    nonce: `0x${bytesToHex(keccak_256(`${id}${realm}`))}`,
    validBefore: secondsOf(expires),
  };
}

/** The `Authorization` header. */
export function mppHeader({ challenge }: MppOffer, { signature, authorization }: SignedTransfer): string {
  const credential = { challenge, payload: { type: 'authorization', signature, ...authorization } };
  return `Payment ${base64Url(JSON.stringify(credential))}`;
}

/** The challenges of one scheme in a header with several (RFC 9110 §11.6.1), their parameters unquoted. */
function challengesOf(header: string): Record<string, string>[] {
  return header
    .split(/(?:^|,)\s*(?=[\w-]+\s+[\w-]+=)/)
    .filter((text) => /^payment\s/i.test(text))
    .map((text) =>
      Object.fromEntries(
        [...text.matchAll(/([\w-]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
          name,
          value.replace(/\\(.)/g, '$1'),
        ]),
      ),
    );
}

const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1000);

const decoded = (text = ''): unknown => jsonOf(textOfBase64(text));
