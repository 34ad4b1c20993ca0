// Rules for every answer, whatever the request.
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Documented } from '../../discovery/documented.ts';
import type { FuzzRequest } from './arbitraries.ts';

interface FuzzAnswer {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  body: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 });

/** Sends a request; undefined where the connection ended without an answer, as it may after a body that is too long. */
export function send(url: string, asked: FuzzRequest): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(url);
  const { body, headers, method, target } = asked;
  const isSent = body.length > 0 || ['POST', 'PUT', 'PATCH'].includes(method);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        agent,
        hostname,
        port,
        method,
        path: target,
        timeout: 20_000,
        headers: [
          ...headers,
          ['Host', 'x'],
          ...(isSent ? [['Content-Length', String(body.length)]] : []),
        ].flat(),
      },
      (incoming) => {
        const { headers, statusCode: status = 0 } = incoming;
        text(incoming).then((body) => resolve({ status, headers, body }), reject);
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The problem of an answer; undefined when there is none. */
export function problemOf(
  { method, target }: Pick<FuzzRequest, 'method' | 'target'>,
  { body, headers, status }: FuzzAnswer,
  documented: readonly Documented[],
): string | undefined {
  const path = target.split('?')[0];
  const here = documented.filter((answer) => answer.path === path && answer.method === method);
  if (status >= 500 && !here.some((answer) => answer.status === status && status !== 500))
    return `${status}: ${body}`;
  if (headers['x-request-id'] === undefined) return 'no name';
  if (method === 'HEAD') return body === '' ? undefined : 'a body';
  if (status < 400) return undefined;
  let parsed: Record<string, unknown>;
  try {
    parsed = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return `no JSON: ${status} ${body.slice(0, 200)}`;
  }
  if (path === '/mcp' && 'jsonrpc' in parsed) return 'error' in parsed ? undefined : `no error: ${body}`;
  if (path === '/subscribe' && status === 402)
    return 'accepts' in parsed ? undefined : `no challenge: ${body}`;
  const { error, message, request_id: requestId } = parsed;
  if (typeof error !== 'string' || typeof message !== 'string') return `no refusal: ${body}`;
  if (requestId !== headers['x-request-id']) return `another name: ${body}`;
  const codes = here.filter((answer) => answer.status === status).map(({ code }) => code);
  return codes.length > 0 && !codes.includes(error) ? `${error} is not documented with ${status}` : undefined;
}

export const stop = (): void => agent.destroy();
