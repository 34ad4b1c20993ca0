// The console of operators: a server of its own beside the API, with its sessions, its live view and its samples.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import { Refusal } from '../domain/refusal.ts';
import { repeat } from '../housekeeping/repeat.ts';
import { type HttpOptions, listenHttp } from '../http/server.ts';
import type { Operator } from '../operator/procedures/all-procedures.ts';
import type { Database } from '../store/database/database.ts';
import { deleteOldSamples, takeSample } from '../store/operations/samples.ts';
import { type ConsoleRefundOptions, refundCloserOf, refundSenderOf } from './actions/refunds.ts';
import { createConsoleApp } from './console-app.ts';
import { LiveFeed } from './live/live-feed.ts';
import { createSessions } from './session/sessions.ts';
import type { SiteOptions } from './session/site.ts';
import { ConsoleView } from './view.ts';

const MINUTE_MS = 60_000;

interface ConsoleParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** The operator API for an operator, whose name is noted with each change. */
  operatorFor: (operator: string) => Operator;
}

type ConsoleOptions = SiteOptions &
  ConsoleRefundOptions &
  Omit<HttpOptions, 'host' | 'port' | 'clock' | 'log' | 'isBehindProxy'> & {
    consolePort: number | undefined;
    serviceName: string;
  };

interface Console {
  url: string;
  stop(): Promise<void>;
}

/** The actor that reads lists for all viewers. */
const ALL_VIEWERS = 'console';

/** Undefined where no port is given for it. Throws when the port cannot be had. */
export async function openConsole(
  options: ConsoleOptions,
  { bus, clock, db, operatorFor, log }: ConsoleParts,
): Promise<Console | undefined> {
  const { consoleHost: host, consolePort: port, consoleUrl, serviceName } = options;
  if (port === undefined) return undefined;
  // As in console-app.ts: without a configured proxy, the peer is the client.
  const isBehindProxy = consoleUrl !== undefined && options.proxyHops > 0;
  const server = await listenHttp({ ...options, host, port, clock, log, isBehindProxy }).catch(
    (cause: Error) => {
      throw new Error(`CONSOLE_PORT: ${cause.message}`, { cause });
    },
  );
  const sessions = createSessions({ db, clock });
  const view = new ConsoleView({ db, bus, clock, operator: operatorFor(ALL_VIEWERS) });
  const feed = new LiveFeed({ clock, log, sessions, render: (topic) => view.render(topic) });
  const unfollow = view.follow(() => feed.touch());
  const app = createConsoleApp({
    db,
    clock,
    log,
    operatorFor,
    sessions,
    view,
    feed,
    serviceName,
    refunds: refundSenderOf(options, clock),
    closeRefund: refundCloserOf(options),
    site: options,
  });
  server.serve(app, async () => {
    throw new Refusal('not_found', 'The console has no sockets.');
  });
  const sampling = repeat({ clock, log, task: 'samples', everyMs: MINUTE_MS }, async () => {
    const now = new Date(clock.now());
    await takeSample(db, await view.fleet(), now);
    await deleteOldSamples(db, now);
    await sessions.deleteEnded();
    view.sampled();
    feed.touch();
  });
  return {
    url: consoleUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    async stop() {
      unfollow();
      feed.stop();
      await sampling.stop();
      await server.stop();
    },
  };
}
