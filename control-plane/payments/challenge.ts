// The 402: one answer that the reader of the service document, x402 clients of both versions and MPP clients can pay.

import { caip2, NETWORKS } from '#shared/api/payment-networks.ts';
import { mppChallenge } from './mpp.ts';
import { AUTHORIZATION_TIMEOUT_SECONDS, type Offer, type Sale } from './offer.ts';

export interface Challenge {
  body: { x402Version: 1; error: string; accepts: AcceptedPayment[] };
  headers: { 'PAYMENT-REQUIRED': string; 'WWW-Authenticate': string[] };
}

/**
 * One way to pay, for x402 v1. `amount` is the service document's name; `maxAmountRequired`, `resource`, `description`
 * and `mimeType` are what v1 clients require beside it, of every entry: without them they refuse to sign.
 */
export interface AcceptedPayment {
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
  extra: { name: string; version: string };
}

const MIME_TYPE = 'application/json';

/** `error` says in a stable code why the payment that came was refused, or that none came. */
export function challengeFor(sale: Sale, error: string, now: Date): Challenge {
  const { resource: url, description, offers } = sale;
  const required = {
    x402Version: 2,
    error,
    resource: resourceOf(sale),
    accepts: offers.map(requirementsOf),
  };
  return {
    body: {
      x402Version: 1,
      error,
      accepts: offers.map((offer) => ({
        ...termsOf(offer),
        network: NETWORKS[offer.chainId].network,
        maxAmountRequired: String(offer.amountAtomic),
        resource: url,
        description,
        mimeType: MIME_TYPE,
      })),
    },
    headers: {
      'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(required)).toString('base64'),
      'WWW-Authenticate': offers.map((offer) => mppChallenge(offer, sale, now)),
    },
  };
}

/** What is sold, as x402 v2 names it. */
export const resourceOf = ({ resource: url, description }: Sale) => ({
  url,
  description,
  mimeType: MIME_TYPE,
});

/** One way to pay, for x402 v2. */
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
