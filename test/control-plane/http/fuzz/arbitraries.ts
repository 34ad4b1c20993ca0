// Requests that come close to what is right, and requests that do not.
import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import type { Described } from '../../discovery/documented.ts';

export interface FuzzRequest {
  method: string;
  target: string;
  headers: [name: string, value: string][];
  body: Buffer;
}

const STRANGE = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udfff\ud800',
  '\uffff',
  '\u202e',
  '💥',
  'null',
  'true',
  '-1',
  '1e400',
  '0x10',
  '__proto__',
  'constructor',
  'toString',
  "'; drop table numbers; --",
  '../../etc/passwd',
  '%00',
  '\r\nX: y',
];
const PLAUSIBLE = [
  '+13105550188',
  '+12065550001',
  '+12065550002',
  '+1911',
  '+19005550100',
  'call_1',
  'someone@example.com',
  `0x${'11'.repeat(20)}`,
  `0x${'11'.repeat(65)}`,
  '00'.repeat(16),
  'hello',
  'both',
  'sent',
  '2026-01-01T00:00:00Z',
];
const texts: Arbitrary<string> = fc.oneof(
  fc.constantFrom(...STRANGE),
  fc.constantFrom(...PLAUSIBLE),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.nat(70_000).map((length) => 'x'.repeat(length)),
);

const numbers = fc.oneof(
  fc.constantFrom(0, -0, -1, 1, 100, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308, 5e-324),
  fc.double({ noNaN: true }),
);
export const values: Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: texts },
  numbers,
  fc.boolean(),
  fc.constant(null),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);

/** Objects with these keys, some of them missing, and some unknown keys. */
export const objectsOf = (keys: readonly string[]): Arbitrary<unknown> =>
  fc
    .tuple(
      fc.record(Object.fromEntries(keys.map((key) => [key, values])), { requiredKeys: [] }),
      fc.option(fc.tuple(texts, values), { nil: undefined }),
    )
    .map(([known, more]) => (more === undefined ? known : { ...known, [more[0]]: more[1] }));

/** Text that is nearly that of a value. */
export function mutatedJson(json: Arbitrary<unknown>): Arbitrary<Buffer> {
  const written = json.map((value) => Buffer.from(JSON.stringify(value)));
  return fc.oneof(
    { weight: 6, arbitrary: written },
    fc.tuple(written, fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([octets, place, more]) => {
      const at = octets.length === 0 ? 0 : place % octets.length;
      return Buffer.concat([octets.subarray(0, at), more, octets.subarray(at + 1)]);
    }),
    fc.tuple(written, fc.nat()).map(([octets, length]) => octets.subarray(0, length % (octets.length + 1))),
    written.map((octets) => gzipSync(octets)),
  );
}

const NASTY_BODIES = [
  `[${'['.repeat(60_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  `{"to":${'9'.repeat(60_000)},"body":1e99999}`,
  '{"__proto__":{"to":"+13105550188"},"constructor":{"prototype":{}}}',
  '{"to":"\\ud800","body":"\\u0000","to":"+13105550188"}',
  '\ufeff{}',
  `"${'x'.repeat(65_600)}"`,
  'to=%2B13105550188&body=x',
];
const bodies = (described: Described): Arbitrary<Buffer> => {
  const schemas = Object.values(described.components.schemas).map(({ properties }) =>
    Object.keys(properties ?? {}),
  );
  const keys = schemas.filter((some) => some.length > 0);
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...keys).chain((some) => mutatedJson(objectsOf(some))) },
    fc.constant(Buffer.alloc(0)),
    fc.constantFrom(...NASTY_BODIES).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 300 }).map((octets) => Buffer.from(octets)),
  );
};

/** The form in which Node's client sends a header: latin1 without controls. */
const headerValue = (text: string): string =>
  Buffer.from(text)
    .toString('latin1')
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
    .slice(0, 3_000);
const headerValues = texts.map(headerValue);

const headers = (token: string): Arbitrary<[string, string][]> => {
  const authorization = fc.oneof(
    { weight: 6, arbitrary: fc.constant(`Bearer ${token}`) },
    fc.nat(token.length).map((length) => `Bearer ${token.slice(0, length)}`),
    headerValues.map((value) => `Bearer ${value}`),
    headerValues.map((value) => `Payment ${value}`),
    headerValues,
  );
  const type = fc.oneof(
    { weight: 6, arbitrary: fc.constant('application/json') },
    fc.constantFrom(
      'application/json; charset=utf-16',
      'text/plain',
      'multipart/form-data',
      'application/json,x',
    ),
    headerValues,
  );
  const other = fc.tuple(
    fc.constantFrom(
      'Accept',
      'Origin',
      'If-None-Match',
      'Range',
      'Cookie',
      'X-Forwarded-For',
      'X-HTTP-Method-Override',
      'Access-Control-Request-Method',
      'Access-Control-Request-Headers',
      'Content-Encoding',
      'Accept-Encoding',
      'X-PAYMENT',
      'PAYMENT-SIGNATURE',
      'Mcp-Method',
      'Mcp-Name',
      'MCP-Protocol-Version',
      'Expect',
      'TE',
    ),
    fc.oneof(
      headerValues,
      fc.constantFrom('*/*', 'text/html', 'gzip', 'bytes=0-1', 'POST', 'https://a.example'),
    ),
  );
  return fc
    .tuple(authorization, type, fc.array(other, { maxLength: 4 }))
    .map(([first, second, more]) => [['Authorization', first], ['Content-Type', second], ...more]);
};

const QUERY_KEYS = ['limit', 'direction', 'since', 'until', 'cursor', 'protocol', 'token', '__proto__'];
const queries: Arbitrary<string> = fc.oneof(
  { weight: 2, arbitrary: fc.constant('') },
  fc
    .array(fc.tuple(fc.constantFrom(...QUERY_KEYS), texts), { maxLength: 5 })
    .map((pairs) => pairs.map(([key, value]) => `${key}=${encoded(value).slice(0, 2_000)}`).join('&')),
  fc.constantFrom(
    'limit=1&limit=2',
    'limit[]=1',
    'limit[a]=1',
    '&&&=',
    '%',
    '%ff=%ff',
    'cursor=WzEsMV0',
    'a=b#c',
  ),
);
const encoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

const paths = (described: Described): Arbitrary<string> => {
  const known = [
    ...Object.keys(described.paths),
    '/mcp',
    '/nodes/enrol',
    '/waitlist/unsubscribe',
    '/health/ready',
    '/openapi.json',
    '/voice/stream/call_1',
    '/voice/presence/%2B12065550001',
    '/.well-known/x402',
  ];
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...known) },
    fc
      .tuple(fc.constantFrom(...known), texts)
      .map(([path, text]) => `${path}/${encoded(text).slice(0, 2_000)}`),
    fc
      .constantFrom(...known)
      .map((path) => path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)),
    fc.constantFrom('//', '/%', '/%ff', '/..', '/./demo', '/;', '/%00', '/\\', '/__proto__', '/toString'),
  );
};

/** Any request that an HTTP client lets through. */
export function requests(described: Described, token: string): Arbitrary<FuzzRequest> {
  const operations = Object.entries(described.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
  );
  const asked = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...operations) },
    fc.record({
      path: paths(described),
      method: fc.constantFrom(
        'GET',
        'POST',
        'HEAD',
        'OPTIONS',
        'PUT',
        'DELETE',
        'PATCH',
        'PROPFIND',
        'QUERY',
      ),
    }),
  );
  return fc
    .tuple(asked, queries, headers(token), bodies(described))
    .map(([{ method, path }, query, some, body]) => ({
      method,
      headers: some,
      body,
      target: query === '' ? path : `${path}?${query}`,
    }));
}
