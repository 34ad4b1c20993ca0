// Reads a header that a request may have once.
import type { IncomingMessage } from 'node:http';
import { Refusal } from '../domain/refusal.ts';

/** A proxy joins several headers of a name. Payments of x402 are base64: any other text with a comma is one value. */
const JOINED = /^[\w+/=-]+(?:\s*,\s*[\w+/=-]+)+$/;
const valuesIn = (header: string): string[] => (JOINED.test(header) ? header.split(/\s*,\s*/) : [header]);

/** Undefined if it is absent. Throws `Refusal` `invalid_request` for several with different values. Node.js would join them, or drop all but one. */
export function onlyHeader({ headersDistinct }: IncomingMessage, name: string): string | undefined {
  const values = headersDistinct[name.toLowerCase()] ?? [];
  const [value, ...others] = new Set(values.flatMap(valuesIn));
  if (others.length === 0) return value;
  throw new Refusal(
    'invalid_request',
    `The request has ${others.length + 1} ${name} headers. Send one payment.`,
    {
      details: { field: name },
    },
  );
}
