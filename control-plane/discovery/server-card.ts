// The tool endpoint for registries and clients of MCP, read before a client connects.
import type { DiscoveryParts } from './well-known.ts';

/** Newest first. */
const MCP_REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** Longest title that registries take. */
const TITLE_CHARACTERS_MAX = 100;

const AUTHORIZATION = {
  name: 'Authorization',
  description:
    'Bearer and the token from POST /subscribe or POST /auth. list_services and check_availability do not need it.',
  isRequired: false,
  isSecret: true,
};

function described({ baseUrl, serviceName }: DiscoveryParts) {
  // A name has letters, digits, dots and hyphens; the address of an IPv6 host has colons.
  const domain = new URL(baseUrl).hostname
    .replace(/[^A-Za-z0-9.-]/g, '-')
    .split('.')
    .reverse()
    .join('.');
  return {
    name: `${domain}/phone-number`,
    version: '1.0.0',
    title: [...serviceName].slice(0, TITLE_CHARACTERS_MAX).join(''),
    description: 'A real US mobile number: send and receive SMS, place calls.',
    websiteUrl: baseUrl,
  };
}

const remote = ({ baseUrl }: DiscoveryParts) => ({
  type: 'streamable-http',
  url: `${baseUrl}/mcp`,
  headers: [AUTHORIZATION],
});

/** The card of the tool endpoint (SEP-2127, io.modelcontextprotocol/server-card). */
export const serverCard = (parts: DiscoveryParts) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
  ...described(parts),
  remotes: [{ ...remote(parts), supportedProtocolVersions: MCP_REVISIONS }],
});

/** The file that an operator publishes to a registry of MCP servers. */
export const serverJson = (parts: DiscoveryParts) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  ...described(parts),
  remotes: [remote(parts)],
});
