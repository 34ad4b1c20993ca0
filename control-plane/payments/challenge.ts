// The 402 response: readers of the service document, x402 clients of both versions and MPP clients can all pay it.
import { caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import {
  BAZAAR,
  OUTPUT_SCHEMA,
  PAYMENT_IDENTIFIER,
  type SignedStatement,
  sellerOf,
  signedOffers,
} from '#shared/api/x402-extensions.ts';
import { failureHeaders, type PaymentHeaders, paymentHeaderOf } from './credential.ts';
import { mppChallenge } from './mpp.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, type Offer, type Sale } from './offer.ts';
import type { PaymentRejected } from './rejection.ts';

export interface Challenge {
  body: {
    x402Version: 1;
    error: string;
    message: string;
    /** The header with a malformed payment, or its wrong field. */
    field?: string;
    accepts: AcceptedPayment[];
  };
  headers: Record<string, string | string[]>;
}

/**
 * One payment option for x402 v1. `amount` is the name in the service document. Clients of v1 require `maxAmountRequired`, `resource`,
 * `description` and `mimeType` in every entry, and refuse to sign without them.
 */
interface AcceptedPayment {
  scheme: 'exact';
  network: string;
  amount: string;
  maxAmountRequired: string;
  asset: string;
  payTo: string;
  maxTimeoutSeconds: number;
  resource: string;
  description: string;
  mimeType: string;
  /** For indexes of paid resources. */
  outputSchema: typeof OUTPUT_SCHEMA;
  extra: { name: string; version: string };
}

const MIME_TYPE = 'application/json';

/**
 * `presented`: the headers of the rejected request, with a payment or without. `signed`: a statement for each offer, or none if the service
 * cannot sign.
 */
export function challengeFor(
  sale: Sale,
  rejection: PaymentRejected,
  { now, presented, signed }: { now: Date; presented: PaymentHeaders; signed: readonly SignedStatement[] },
): Challenge {
  const { resource: url, description, offers } = sale;
  const { code: error } = rejection;
  const field = rejection.field ?? (error === 'invalid_encoding' ? paymentHeaderOf(presented) : undefined);
  const required = {
    x402Version: 2,
    error,
    resource: resourceOf(sale),
    accepts: offers.map(requirementsOf),
    extensions: { ...BAZAAR, ...PAYMENT_IDENTIFIER, ...(signed.length > 0 && signedOffers(signed)) },
  };
  return {
    body: {
      x402Version: 1,
      error,
      message: rejection.reason.meaning,
      ...(field !== undefined && { field }),
      accepts: offers.map((offer) => ({
        ...termsOf(offer),
        network: NETWORKS[offer.chainId].network,
        maxAmountRequired: String(offer.amountAtomic),
        resource: url,
        description,
        mimeType: MIME_TYPE,
        outputSchema: OUTPUT_SCHEMA,
      })),
    },
    headers: {
      'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(required)).toString('base64'),
      'WWW-Authenticate': offers.map((offer) => mppChallenge(offer, sale, now)),
      ...failureHeaders(presented, rejection, sale),
    },
  };
}

/** The sold resource in the form of x402 v2. */
export const resourceOf = ({ resource: url, description, serviceName }: Sale) => ({
  url,
  description,
  mimeType: MIME_TYPE,
  ...sellerOf(serviceName),
});

/** One payment option for x402 v2. */
export const requirementsOf = (offer: Offer) => ({ network: caip2(offer.chainId), ...termsOf(offer) });

function termsOf(offer: Offer) {
  return {
    scheme: 'exact' as const,
    amount: String(offer.amountAtomic),
    asset: offer.asset,
    payTo: offer.payTo,
    maxTimeoutSeconds: AUTHORIZATION_TIMEOUT_SECONDS,
    extra: { name: offer.assetName, version: offer.assetVersion },
  };
}
