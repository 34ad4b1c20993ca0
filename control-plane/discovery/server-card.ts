// The card of the tool endpoint (SEP-2127, io.modelcontextprotocol/server-card): read before a client connects.

/** Newest first. */
const MCP_REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

export function serverCard({ baseUrl, serviceName }: { baseUrl: string; serviceName: string }) {
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
              'Bearer and the token of POST /subscribe or POST /auth; list_services and check_availability do not need it.',
            isRequired: false,
            isSecret: true,
          },
        ],
      },
    ],
  };
}
