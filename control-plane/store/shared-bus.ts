// The bus of several instances on one Postgres: what ends a token on one of them is heard by the others some milliseconds later.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Client } from 'pg';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Bus, type BusEvent, createLocalBus } from '../bus/bus.ts';
import type { Database } from './database.ts';

const CHANNEL = 'simrack_bus';
/** Rare, and worth a statement; whoever waits for messages asks again within a second. */
const SHARED: BusEvent['kind'] = 'subscription_changed';
const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 1_000;

export interface SharedBus extends Bus {
  stop(): Promise<void>;
}

export interface SharedBusParts {
  url: string;
  db: Database;
  clock: Clock;
  log: Logger;
}

/**
 * Opens a connection of its own that listens. While it is broken the others' events are missed, as hints may be; it is
 * opened again every second. Rejects when it cannot be had at the start.
 */
export async function openSharedBus({ url, db, clock, log }: SharedBusParts): Promise<SharedBus> {
  const local = createLocalBus();
  const self = randomUUID();
  let isStopped = false;
  let listener: Client | undefined;
  let retry: Timer | undefined;

  const hear = (payload: string | undefined): void => {
    const [sender, subscriptionId] = payload?.split(' ') ?? [];
    if (sender !== self && subscriptionId !== undefined) local.publish({ kind: SHARED, subscriptionId });
  };
  const keep = (client: Client): void => {
    listener = client;
    client.on('notification', ({ payload }) => hear(payload));
    client.once('end', () => {
      if (isStopped) return;
      log.warn({}, 'other instances are not heard: the connection broke');
      listenAgain();
    });
    if (isStopped) void client.end();
  };
  const listenAgain = (): void => {
    if (!isStopped) retry = clock.after(RECONNECT_MS, () => void listenOn(url).then(keep, listenAgain));
  };

  keep(await listenOn(url));
  return {
    publish(event) {
      local.publish(event);
      if (event.kind !== SHARED) return;
      const payload = `${self} ${event.subscriptionId}`;
      sql`select pg_notify(${CHANNEL}, ${payload})`
        .execute(db)
        .catch((error: unknown) => log.warn({ err: error }, 'other instances were not told'));
    },
    subscribe: (listener) => local.subscribe(listener),
    async stop() {
      isStopped = true;
      retry?.cancel();
      await listener?.end().catch(() => undefined);
    },
  };
}

async function listenOn(url: string): Promise<Client> {
  const client = new Client({
    ...{ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, keepAlive: true },
    application_name: 'simrack-control-plane-bus',
  });
  // What ends a connection is told by its end, too; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}`);
    return client;
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
}
