// The JSON body of a request, with a bound.
import type { IncomingMessage } from 'node:http';
import type * as z from 'zod';
import { HttpError } from './http-error.ts';

/** A thousand messages, or the longest text (255 segments) in JSON escapes. */
const BODY_BYTES_MAX = 1024 * 1024;

/** Throws `HttpError` for a body that is too long or no JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) {
      throw new HttpError('payload_too_large', `the body is longer than ${BODY_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (cause) {
    throw new HttpError('invalid_json', 'the body is not JSON in UTF-8', { cause });
  }
}

/** Checks a value; throws `HttpError` naming each field that is wrong. */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => [...path, message].join(': '));
  throw new HttpError('invalid_request', issues.join('; '));
}
