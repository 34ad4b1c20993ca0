// Requests that each have a connection of their own, so that a proxy spreads them, and a time-out.
import { request as send } from 'node:http';

const TIMEOUT_MS = 40_000;

interface Reply {
  status: number;
  body: Record<string, unknown>;
}

/** Throws when there is no answer. */
export function ask(
  url: string,
  {
    headers = {},
    method = 'GET',
    body,
  }: { headers?: Record<string, string>; method?: string; body?: unknown } = {},
): Promise<Reply> {
  const json = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
  const type = json === undefined ? {} : { 'Content-Type': 'application/json' };
  return new Promise((resolve, reject) => {
    const request = send(
      url,
      { method, agent: false, headers: { ...type, ...headers }, signal: AbortSignal.timeout(TIMEOUT_MS) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          try {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
          } catch (error) {
            reject(error as Error);
          }
        });
      },
    );
    request.on('error', reject);
    request.end(json);
  });
}
