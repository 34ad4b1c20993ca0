// The ports of the service: that of the API, and that of metrics if it is configured.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Listening } from '#shared/process/listen.ts';
import { FLEET_METRICS_PATH, METRICS_PATH, serveMetrics } from '#shared/process/metrics-server.ts';
import type { Config } from '../config/config.ts';
import { type HttpServer, listenHttp } from '../http/server.ts';
import { ServiceMetrics } from '../metrics/service-metrics.ts';

interface Ports {
  api: HttpServer;
  metrics: ServiceMetrics;
  /** Undefined if metrics are not served. */
  metricsPort: number | undefined;
  stopMetrics(): Promise<void>;
}

/** Rejects when a port cannot be used; then none is left open. */
export async function openPorts(
  config: Config,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<Ports> {
  const metrics = new ServiceMetrics({ clock, log });
  let server: Listening | undefined;
  const stopMetrics = async (): Promise<void> => {
    await server?.stop();
    metrics.stop();
  };
  try {
    const { metricsHost: host, metricsPort: port } = config;
    if (port !== undefined) {
      const registries = { [METRICS_PATH]: metrics.registry, [FLEET_METRICS_PATH]: metrics.fleetRegistry };
      server = await serveMetrics(registries, { host, port, option: 'METRICS_PORT' });
      metrics.watchProcess();
    }
    const api = await listenHttp({ ...config, isBehindProxy: config.proxyHops > 0, clock, log });
    return { api, metrics, metricsPort: server?.port, stopMetrics };
  } catch (error) {
    await stopMetrics();
    throw error;
  }
}

/** The URL of the API for clients. */
export const urlOf = ({ publicUrl, host }: Config, port: number): string =>
  (publicUrl ?? `http://${host}:${port}`).replace(/\/+$/, '');
