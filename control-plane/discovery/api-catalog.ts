// /.well-known/api-catalog: where the descriptions of the API are, as a linkset (RFC 9727, RFC 9264).

export const apiCatalog = ({ baseUrl }: { baseUrl: string }) => ({
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
