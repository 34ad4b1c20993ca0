// Requests that each have a connection of their own, so that a proxy spreads them, and a time-out.
import { request as send } from 'node:http';
import { json as jsonOf } from 'node:stream/consumers';
import type { Reply } from '../../fixtures/network/json-request.ts';

const TIMEOUT_MS = 40_000;

/** Throws when there is no answer. */
export function ask(
  url: string,
  {
    headers = {},
    method = 'GET',
    body,
  }: { headers?: Record<string, string>; method?: string; body?: unknown } = {},
): Promise<Reply<Record<string, unknown>>> {
  const json = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      { method, agent: false, headers: { ...type, ...headers }, signal: AbortSignal.timeout(TIMEOUT_MS) },
      (response) => {
        jsonOf(response).then(
          (answer) => resolve({ status: response.statusCode ?? 0, body: answer as Record<string, unknown> }),
          reject,
        );
      },
    );
    request.on('error', reject);
    request.end(json);
  });
}
