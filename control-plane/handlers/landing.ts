// GET / for a browser: the page, with what is true right now.
import { priceText, priceUnits } from '../discovery/price.ts';
import { landingPage } from '../pages/landing-page.ts';
import { type CatalogParts, filesByName } from './catalog.ts';
import { demo } from './demo.ts';
import { availability, type SubscribeParts } from './subscription.ts';

export type LandingParts = CatalogParts & Pick<SubscribeParts, 'db' | 'clock' | 'sale'>;

export async function landing(parts: LandingParts): Promise<string> {
  const { baseUrl, files, sale, serviceName } = parts;
  const [offer] = sale.offers;
  if (offer === undefined) throw new Error('nothing is for sale');
  const { available } = await availability(parts);
  return landingPage({
    ...{ baseUrl, serviceName, available, demo: demo() },
    price: priceText(offer),
    priceDollars: priceUnits(offer),
    files: filesByName(files),
  });
}
