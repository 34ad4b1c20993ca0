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

/** How clients get authorization, which they read after a 401 (RFC 9728). */
export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/** Names no authorization server: tokens come from POST /subscribe and POST /auth, as the description says. */
export const protectedResource = ({ baseUrl, serviceName }: DiscoveryParts) => ({
  resource: baseUrl,
  resource_name: serviceName,
  resource_documentation: `${baseUrl}/openapi.json`,
  bearer_methods_supported: ['header'],
});

/** The challenge in a 401 of the tool endpoint. `isRefused`: a token was sent but is not valid (RFC 6750 §3.1). */
export const bearerChallenge = (baseUrl: string, isRefused: boolean): string =>
  `Bearer resource_metadata="${baseUrl}${PROTECTED_RESOURCE_PATH}"${isRefused ? ', error="invalid_token"' : ''}`;

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

/** Newest first. */
const MCP_REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** The card of the tool endpoint (SEP-2127, io.modelcontextprotocol/server-card): read before a client connects. */
export function serverCard({ baseUrl, serviceName }: DiscoveryParts) {
  const domain = new URL(baseUrl).hostname.split('.').reverse().join('.');
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    name: `${domain}/phone-number`,
    version: '1.0.0',
    title: serviceName,
    description: 'A real US mobile number: send and receive SMS, place calls.',
    websiteUrl: baseUrl,
    remotes: [
      {
        type: 'streamable-http',
        url: `${baseUrl}/mcp`,
        supportedProtocolVersions: MCP_REVISIONS,
        headers: [
          {
            name: 'Authorization',
            description:
              'Bearer and the token from POST /subscribe or POST /auth. list_services and check_availability do not need it.',
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}

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
