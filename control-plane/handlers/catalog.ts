// GET /: describes the service, and links to its documents; for a browser, the landing page with the present state.
import type { AnswerOf, OPERATION } from '#shared/api/operations.ts';
import type { DiscoveryFile } from '../discovery/files.ts';
import { landingPage } from '../pages/landing-page.ts';
import { pricesText, priceUnits } from '../payments/offer.ts';
import { demo } from './demo.ts';
import type { AvailabilityParts, SubscribeParts } from './subscription.ts';

export interface CatalogParts {
  /** Absolute, without a trailing slash. */
  baseUrl: string;
  serviceName: string;
  /** "production", or the operator's name for it. */
  environment: string;
  files: readonly DiscoveryFile[];
}

/** The tool endpoint (MCP). */
export const TOOLS_PATH = '/mcp';

export function catalog(parts: CatalogParts): AnswerOf<typeof OPERATION.catalog> {
  const { baseUrl, environment, files, serviceName } = parts;
  return {
    name: serviceName,
    description:
      'A real US mobile number for a year, for SMS and voice. A wallet pays for it with one HTTP request, and its signature replaces a lost token. To renew, pay again with the same wallet.',
    env: environment,
    mcp: baseUrl + TOOLS_PATH,
    openapi: `${baseUrl}/openapi.json`,
    well_known: Object.fromEntries(files.map(({ path }) => [nameOf(path), baseUrl + path])),
    status: 'ok',
  };
}

/** The files that are listed for browsers, path by name. */
export const filesByName = (files: readonly DiscoveryFile[]): Record<string, string> =>
  Object.fromEntries(files.map(({ path }) => [nameOf(path), path]));

/** "x402" of "/.well-known/x402". */
const nameOf = (path: string): string => path.replace(/^\/(\.well-known\/)?/, '');

type LandingParts = CatalogParts & AvailabilityParts & Pick<SubscribeParts, 'sale'>;

export async function landing(parts: LandingParts): Promise<string> {
  const { baseUrl, files, sale, serviceName } = parts;
  const offers = sale.offers.slice(0, 1);
  const { available } = await parts.availability();
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
