// The requests that the simulator answers, and their JSON bodies.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type * as z from 'zod';
import { allowedKeys, closest, meantOrListed, type Path } from '#shared/process/suggestion.ts';
import { HttpError } from './http-error.ts';

/** A request that has found its route. */
export interface RouteRequest {
  incoming: IncomingMessage;
  response: ServerResponse;
  query: URLSearchParams;
  /** The part of the path in braces. */
  parameter: string;
}

export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `{…}` stands for one segment. */
  path: string;
  /** Status of a success that is not 200. */
  status?: number;
  /** The JSON to answer with; `undefined` when the answer is already on its way. Throws `HttpError`. */
  handle: (request: RouteRequest) => unknown;
}

/** All routes of the server. */
export interface Answers {
  routes: readonly Route[];
  /** Takes over a connection that asks for a WebSocket. */
  upgrade: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Ends connections that go on. */
  close: () => void;
}

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
  const issues = parsed.error.issues.map((issue) => problemOf(schema, value, issue));
  throw new HttpError('invalid_request', issues.join('; '));
}

function problemOf(schema: z.ZodType, value: unknown, issue: z.core.$ZodIssue): string {
  const path = issue.path as Path;
  if (issue.code === 'unrecognized_keys') {
    const allowed = allowedKeys(schema, path);
    return issue.keys
      .map(
        (key) => `"${key}" is not a field of this request. ${meantOrListed(closest(key, allowed), allowed)}`,
      )
      .join('; ');
  }
  const isMissing = issue.code === 'invalid_type' && valueAt(value, path) === undefined;
  return [...path, isMissing ? 'is required' : issue.message].join(': ');
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], value);
