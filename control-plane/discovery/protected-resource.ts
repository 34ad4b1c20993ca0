// How clients get authorization, which they read after a 401 (RFC 9728).

export const PROTECTED_RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/** Names no authorization server: tokens come from POST /subscribe and POST /auth, as the description says. */
export const protectedResource = ({ baseUrl, serviceName }: { baseUrl: string; serviceName: string }) => ({
  resource: baseUrl,
  resource_name: serviceName,
  resource_documentation: `${baseUrl}/openapi.json`,
  bearer_methods_supported: ['header'],
});

/** The challenge in a 401 of the tool endpoint. `isRefused`: a token was sent but is not valid (RFC 6750 §3.1). */
export const bearerChallenge = (baseUrl: string, isRefused: boolean): string =>
  `Bearer resource_metadata="${baseUrl}${PROTECTED_RESOURCE_PATH}"${isRefused ? ', error="invalid_token"' : ''}`;
