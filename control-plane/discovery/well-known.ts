// The small files below /.well-known, and the facts that every published file contains.
import { OPERATION } from '#shared/api/operations.ts';
import { requirementsOf } from '../payments/challenge.ts';
import type { Sale } from '../payments/offer.ts';

export interface DiscoveryParts {
  /** Absolute, without a trailing slash. */
  baseUrl: string;
  serviceName: string;
  sale: Sale;
  /** A mailto: or https: URL for reports of vulnerabilities. Undefined: there is no security.txt. */
  securityContact: string | undefined;
}

/** Links to the descriptions of the API, as a linkset (RFC 9727, RFC 9264). */
export const API_CATALOG_PATH = '/.well-known/api-catalog';

/** The `Link` header by which the catalog and the descriptions refer to it (RFC 9727 §2). */
export const API_CATALOG_LINK = `<${API_CATALOG_PATH}>; rel="api-catalog"`;

export const apiCatalog = ({ baseUrl }: DiscoveryParts) => ({
  linkset: [
    {
      anchor: `${baseUrl}/`,
      'service-desc': [
        { href: `${baseUrl}/openapi.json`, type: 'application/json' },
        { href: `${baseUrl}/asyncapi.json`, type: 'application/json' },
      ],
      'service-doc': [
        { href: `${baseUrl}/`, type: 'text/html' },
        { href: `${baseUrl}/llms.txt`, type: 'text/markdown' },
      ],
      status: [{ href: `${baseUrl}/health/ready`, type: 'application/json' }],
    },
  ],
});

/** The number on sale, in the format that x402scan reads. A payer takes the terms from the 402, not from here. */
export const x402Manifest = ({ baseUrl, sale }: DiscoveryParts) => ({
  version: 1,
  resources: [sale.resource],
  instructions:
    `POST ${baseUrl}${OPERATION.subscribe.path} buys a US mobile number for a year. It belongs to the wallet that pays: ` +
    `pay with one that is kept. Read ${baseUrl}/llms.txt first.`,
  x402Version: 2,
  accepts: sale.offers.map(requirementsOf),
});

/** RFC 9116 §2.5.5 advises less than a year. */
const VALID_DAYS = 180;
const DAY_MS = 86_400_000;

/** The contact for reports of vulnerabilities (RFC 9116). */
export function securityText({ baseUrl }: DiscoveryParts, contact: string, now: Date): string {
  // Rounded to days, so that it changes only once a day.
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  return [
    `Contact: ${contact}`,
    `Expires: ${new Date(today + VALID_DAYS * DAY_MS).toISOString()}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}/.well-known/security.txt`,
    '',
  ].join('\n');
}
