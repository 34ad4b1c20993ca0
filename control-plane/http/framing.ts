// Enforces rules of HTTP beyond its grammar, before the request is handled.
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../domain/refusal.ts';

/** RFC 3986 §3.2.2, and a port. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]*)(?::\d{0,5})?$/i;

/** Node drops headers beyond this number without reporting it. */
export const HEADERS_MAX = 256;

/**
 * Checks the version, the number of headers and `Host` (RFC 9112 §3.2), and brings the target into origin form, because routes know paths
 * only. Throws `Refusal` `invalid_request`, `headers_too_large`.
 */
export function normalize(request: IncomingMessage): void {
  const { httpVersion, rawHeaders, url = '' } = request;
  if (!httpVersion.startsWith('1.')) throw new Refusal('invalid_request', 'The request is not HTTP/1.');
  if (rawHeaders.length >= 2 * HEADERS_MAX)
    throw new Refusal('headers_too_large', `A request must have fewer than ${HEADERS_MAX} headers`);
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1') || !HOST.test(request.headers.host ?? ''))
    throw new Refusal('invalid_request', 'A request must have one Host header.');
  if (url.startsWith('/') || url === '*') return;
  if (!URL.canParse(url)) throw new Refusal('invalid_request', 'The target of the request is not a URL.');
  const { pathname, search } = new URL(url);
  request.url = pathname + search;
}
