// The tool list_services: the services on sale, their prices and their availability.
import { formatUnits } from 'viem';
import type * as z from 'zod';
import type { servicesSchema } from '#shared/api/answers.ts';
import { caip2 } from '#shared/api/payment-networks.ts';
import type { Base } from '../bus/base.ts';
import { PLAN } from '../domain/subscription.ts';
import type { Sale } from '../payments/offer.ts';
import { type CatalogParts, catalog } from './catalog.ts';
import { availability } from './subscription.ts';

export interface ServicesParts extends CatalogParts, Pick<Base, 'db' | 'clock'> {
  sale: Sale;
}

/** Cached, because agents poll the list and each count costs a query. */
const COUNT_LIFETIME_MS = 1_000;

export function createServices(parts: ServicesParts): () => Promise<z.input<typeof servicesSchema>> {
  const { clock, sale } = parts;
  let counted: { at: number; available: Promise<{ available: number }> } | undefined;
  const available = (): Promise<{ available: number }> => {
    const now = clock.now();
    // A count from the future is from before the clock was set back.
    if (counted !== undefined && counted.at <= now && now - counted.at < COUNT_LIFETIME_MS)
      return counted.available;
    const count = { at: now, available: availability(parts) };
    counted = count;
    count.available.catch(() => {
      if (counted === count) counted = undefined;
    });
    return count.available;
  };
  const prices = () =>
    sale.offers.map(({ amountAtomic, asset, assetDecimals, assetName, chainId }) => ({
      price: formatUnits(amountAtomic, assetDecimals),
      currency: assetName,
      network: caip2(chainId),
      asset,
      amount: String(amountAtomic),
    }));
  return async () => ({
    services: [
      {
        name: 'us_mobile_number',
        description: sale.description,
        plan: PLAN,
        ...(await available()),
        subscribe: sale.resource,
        prices: prices(),
      },
    ],
    catalog: catalog(parts),
  });
}
