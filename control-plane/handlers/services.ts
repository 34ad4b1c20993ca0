// The tool list_services: the services on sale, their prices and their availability.
import { formatUnits } from 'viem';
import type * as z from 'zod';
import type { servicesSchema } from '#shared/api/answers.ts';
import { caip2 } from '#shared/api/payment-networks.ts';
import type { Base } from '../bus/base.ts';
import { PLAN } from '../domain/subscription.ts';
import type { Sale } from '../payments/offer.ts';
import { type CatalogParts, catalog } from './catalog.ts';
import type { AvailabilityParts } from './subscription.ts';

export interface ServicesParts extends CatalogParts, AvailabilityParts, Pick<Base, 'clock'> {
  sale: Sale;
}

/** Cached, because agents poll the list and each count of numbers costs a query. */
const ANSWER_LIFETIME_MS = 1_000;

type Services = z.input<typeof servicesSchema>;

export function createServices(parts: ServicesParts): () => Promise<Services> {
  const { clock } = parts;
  let last: { at: number; answer: Promise<Services> } | undefined;
  return () => {
    const now = clock.now();
    // An answer from the future is from before the clock was set back.
    if (last !== undefined && last.at <= now && now - last.at < ANSWER_LIFETIME_MS) return last.answer;
    const made = { at: now, answer: servicesOf(parts) };
    last = made;
    made.answer.catch(() => {
      if (last === made) last = undefined;
    });
    return made.answer;
  };
}

async function servicesOf(parts: ServicesParts): Promise<Services> {
  const { sale } = parts;
  const { available } = await parts.availability();
  const prices = sale.offers.map(({ amountAtomic, asset, assetDecimals, assetName, chainId }) => ({
    price: formatUnits(amountAtomic, assetDecimals),
    currency: assetName,
    network: caip2(chainId),
    asset,
    amount: String(amountAtomic),
  }));
  return {
    services: [
      {
        name: 'us_mobile_number',
        description: sale.description,
        plan: PLAN,
        available,
        subscribe: sale.resource,
        prices,
      },
    ],
    catalog: catalog(parts),
  };
}
