// How a client gets a token, where clients of OAuth read it (RFC 9728). The service has no authorization server.
import type { DiscoveryParts } from './well-known.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const TOOLS = '/mcp';

/** One document for the API and one for the tools: each must repeat the URL of its resource (RFC 9728 §3.3). */
export const PROTECTED_RESOURCES = [
  { path: WELL_KNOWN, resource: '' },
  { path: `${WELL_KNOWN}${TOOLS}`, resource: TOOLS },
] as const;

/** How to get a token, in one line: in the documents, and in the answer to clients that try OAuth. */
export const tokenText = (baseUrl: string): string =>
  `This service has no OAuth. POST ${baseUrl}/subscribe with a payment (x402 or MPP) returns a token. A wallet that has paid gets ` +
  `a new one with POST ${baseUrl}/auth/nonce and POST ${baseUrl}/auth. Send it as Authorization: Bearer.`;

/** RFC 9728 §3.2 forbids an empty list, so the document has no `authorization_servers`. */
export const protectedResource = ({ baseUrl, serviceName }: DiscoveryParts, path: string) => ({
  resource: baseUrl + path,
  resource_name: serviceName,
  resource_documentation: `${baseUrl}/llms.txt`,
  bearer_methods_supported: ['header'],
  token_instructions: tokenText(baseUrl),
});

/** The challenge in a 401 of the tool endpoint. `isRefused`: a token was sent but is not valid (RFC 6750 §3.1). */
export const bearerChallenge = (baseUrl: string, isRefused: boolean): string =>
  `Bearer resource_metadata="${baseUrl}${WELL_KNOWN}${TOOLS}"${isRefused ? ', error="invalid_token"' : ''}`;

/** Paths that clients of OAuth request when they search for an authorization server, or assume one (RFC 8414, OpenID Connect Discovery, MCP 2025-03-26). */
const OAUTH_PATHS = new Set(['/register', '/authorize', '/token']);
const OAUTH_METADATA = /^\/\.well-known\/(?:oauth-authorization-server|openid-configuration)(?:\/|$)/;

export const isOAuthPath = (path: string): boolean =>
  OAUTH_PATHS.has(path) || OAUTH_METADATA.test(path) || path === `${TOOLS}/.well-known/openid-configuration`;
