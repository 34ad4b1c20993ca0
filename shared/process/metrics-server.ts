// Serves the metrics over HTTP, by default on this host only.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { portError } from './port-error.ts';

export const METRICS_PATH = '/metrics';
/** Metrics of nodes, as the service has them from their reports. */
export const FLEET_METRICS_PATH = '/metrics/nodes';
const REQUEST_TIMEOUT_MS = 10_000;

/** A server that runs until `stop`. */
export interface MetricsServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Serves each registry at its path. Listens on `host`, by default 127.0.0.1; port 0 takes a free one. Rejects, with the name of its
 * `option`, when the port is not available.
 */
export async function serveMetrics(
  registries: Readonly<Record<string, Registry>>,
  { host = '127.0.0.1', port, option }: { host?: string; port: number; option: string },
): Promise<MetricsServer> {
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
  server.listen(port, host);
  await once(server, 'listening').catch((cause: Error) => {
    throw portError(option, port, cause);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
