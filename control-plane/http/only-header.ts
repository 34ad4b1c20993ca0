// Reads a header that a request may have once.
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../domain/refusal.ts';

/** A proxy joins several headers of a name. A payment of x402 has no comma, as it is base64; a credential of `Authorization` may have one. */
const valuesIn = (header: string, name: string): string[] =>
  name === 'Authorization' ? [header] : header.split(/,\s*/);

/** Undefined if it is absent. Throws `Refusal` `invalid_request` for several with different values. Node.js would join them, or drop all but one. */
export function onlyHeader({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name.toLowerCase()] ?? [];
  const [value, ...others] = new Set(values.flatMap((each) => valuesIn(each, name)));
  if (others.length === 0) return value;
  throw new Refusal(
    'invalid_request',
    `The request has ${others.length + 1} ${name} headers. Send one payment.`,
    {
      details: { field: name },
    },
  );
}
