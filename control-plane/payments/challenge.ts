// The body of a 402: what a payer may sign. Readers of the service document and x402 v1 clients share it.
import { AUTHORIZATION_TIMEOUT_SECONDS, NETWORKS, type Offer } from './offer.ts';

export interface Challenge {
  x402Version: 1;
  error: string;
  accepts: AcceptedPayment[];
}

/**
 * One way to pay. `amount` is the service document's name; `maxAmountRequired`, `resource`, `description`
 * and `mimeType` are what x402 v1 clients require beside it: without them they refuse to sign.
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

/** `error` says in a stable code why the payment that came was refused, or that none came. */
export function challengeFor(offer: Offer, error: string): Challenge {
  return {
    x402Version: 1,
    error,
    accepts: [
      {
        scheme: 'exact',
        network: NETWORKS[offer.chainId].network,
        amount: String(offer.amountAtomic),
        maxAmountRequired: String(offer.amountAtomic),
        asset: offer.asset,
        payTo: offer.payTo,
        maxTimeoutSeconds: AUTHORIZATION_TIMEOUT_SECONDS,
        resource: offer.resource,
        description: 'A US mobile number for one year: SMS and voice',
        mimeType: 'application/json',
        extra: { name: offer.assetName, version: offer.assetVersion },
      },
    ],
  };
}
