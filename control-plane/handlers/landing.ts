// GET / for a browser: the page, with the present state.
import { landingPage } from '../pages/landing-page.ts';
import { pricesText, priceUnits } from '../payments/offer.ts';
import { type CatalogParts, filesByName } from './catalog.ts';
import { demo } from './demo.ts';
import { availability, type SubscribeParts } from './subscription.ts';

type LandingParts = CatalogParts & Pick<SubscribeParts, 'db' | 'clock' | 'sale'>;

export async function landing(parts: LandingParts): Promise<string> {
  const { baseUrl, files, sale, serviceName } = parts;
  const offers = sale.offers.slice(0, 1);
  const { available } = await availability(parts);
  return landingPage({
    baseUrl,
    serviceName,
    available,
    demo: demo(),
    price: pricesText(offers),
    priceDollars: offers.map(priceUnits).join('') || '…',
    files: filesByName(files),
  });
}
