// /.well-known/api-catalog: links to the descriptions of the API, as a linkset (RFC 9727, RFC 9264).

export const API_CATALOG_PATH = '/.well-known/api-catalog';

/** The `Link` header by which the catalog and the descriptions refer to it (RFC 9727 §2). */
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
