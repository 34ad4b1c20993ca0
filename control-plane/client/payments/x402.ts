// Pays a 402 by x402, scheme "exact": version 1 from the body, version 2 from the header.
import * as z from 'zod';
import { challengeSchema } from '#shared/api/answers.ts';
import { CHAIN_IDS, type ChainId, caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import { jsonOf } from '#shared/json.ts';
import { base64, textOfBase64 } from './base64.ts';
import { LIFETIME_SECONDS_MAX, type Offer, type RawAnswer } from './offer.ts';
import { addressSchema, amountSchema } from './offer-fields.ts';
import type { SignedTransfer } from './transfer.ts';

const requirementsSchema = z.looseObject({
  scheme: z.string(),
  network: z.string(),
  amount: amountSchema,
  asset: addressSchema,
  payTo: addressSchema,
  maxTimeoutSeconds: z.number().int().positive().max(LIFETIME_SECONDS_MAX),
  extra: z.object({ name: z.string(), version: z.string() }),
});

const requiredV2Schema = z.object({ resource: z.unknown(), accepts: z.array(z.unknown()) });

interface X402Offer {
  offer: Offer;
  /** The entry as it is in the challenge. */
  entry: unknown;
}

/** The offers in the body of a 402, without those of other schemes and networks. */
export function offersV1({ json }: RawAnswer): X402Offer[] {
  const accepts = challengeSchema.pick({ accepts: true }).safeParse(json).data?.accepts ?? [];
  return offersOf(accepts, (chainId) => NETWORKS[chainId].network);
}

export function offersV2({ headers }: RawAnswer): X402Offer[] {
  return offersOf(requiredV2(headers)?.accepts ?? [], caip2);
}

/** The `X-PAYMENT` header. */
export function headerV1({ offer }: X402Offer, payload: SignedTransfer): string {
  return encoded({ x402Version: 1, scheme: 'exact', network: NETWORKS[offer.chainId].network, payload });
}

/** The `PAYMENT-SIGNATURE` header. */
export function headerV2({ headers }: RawAnswer, { entry }: X402Offer, payload: SignedTransfer): string {
  return encoded({ x402Version: 2, resource: requiredV2(headers)?.resource, accepted: entry, payload });
}

function offersOf(entries: readonly unknown[], nameOf: (chainId: ChainId) => string): X402Offer[] {
  return entries.flatMap((entry) => {
    const parsed = requirementsSchema.safeParse(entry);
    const chainId = CHAIN_IDS.find((id) => nameOf(id) === parsed.data?.network);
    if (!parsed.success || parsed.data.scheme !== 'exact' || chainId === undefined) return [];
    const { amount, asset, payTo, maxTimeoutSeconds, extra } = parsed.data;
    return [{ entry, offer: { chainId, asset, payTo, amount, maxTimeoutSeconds, domain: extra } }];
  });
}

function requiredV2(headers: Headers): z.output<typeof requiredV2Schema> | undefined {
  const text = textOfBase64(headers.get('payment-required') ?? '');
  return requiredV2Schema.safeParse(jsonOf(text)).data;
}

const encoded = (value: unknown): string => base64(JSON.stringify(value));
