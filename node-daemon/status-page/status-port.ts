// Opens the port of status page and metrics, and tries again while another program uses it. The modems do not depend on it.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Listening } from '#shared/process/listen.ts';
import { type StatusServerParts, serveStatus } from './status-server.ts';

export const RETRY_MS = 60_000;

interface StatusPortParts extends StatusServerParts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tries until `stop`. Resolves after the first attempt. Never rejects. Each failure is logged. */
export async function keepStatusPort(parts: StatusPortParts): Promise<{ stop(): Promise<void> }> {
  const { clock, log, port } = parts;
  let server: Listening | undefined;
  let timer: Timer | undefined;
  let isStopped = false;
  const listen = async (): Promise<void> => {
    try {
      server = await serveStatus(parts);
      if (timer !== undefined) log.info({ port }, 'status page and metrics available');
    } catch (error) {
      if (isStopped) return;
      log.error(
        { err: error, port, retryMs: RETRY_MS },
        'no status page and no metrics: failed to open the port. Set another metrics.port in the configuration file',
      );
      timer = clock.after(RETRY_MS, () => {
        trying = listen();
      });
    }
  };
  let trying = listen();
  await trying;
  return {
    async stop() {
      isStopped = true;
      timer?.cancel();
      await trying;
      await server?.stop();
    },
  };
}
