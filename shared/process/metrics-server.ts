// Serves the metrics over HTTP, by default on this host only.
import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { type Listening, listen } from './listen.ts';

export const METRICS_PATH = '/metrics';
/** Metrics of nodes, as the service has them from their reports. */
export const FLEET_METRICS_PATH = '/metrics/nodes';
const REQUEST_TIMEOUT_MS = 10_000;

/** Serves each registry at its path, as `listen` does. */
export function serveMetrics(
  registries: Readonly<Record<string, Registry>>,
  port: Parameters<typeof listen>[1],
): Promise<Listening> {
  const served = new Map(Object.entries(registries));
  const server = createServer((request, response) => {
    const registry = served.get(request.url ?? '');
    if (request.method !== 'GET' || registry === undefined) {
      response.writeHead(404).end([...served.keys()].map((path) => `GET ${path}\n`).join(''));
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  return listen(server, port);
}
