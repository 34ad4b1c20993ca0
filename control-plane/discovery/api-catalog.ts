// /.well-known/api-catalog: where the descriptions of the API are, as a linkset (RFC 9727, RFC 9264).

export const API_CATALOG_PATH = '/.well-known/api-catalog';

/** The `Link` with which the catalog and the descriptions lead to it (RFC 9727 §2). */
export const API_CATALOG_LINK = `<${API_CATALOG_PATH}>; rel="api-catalog"`;

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
