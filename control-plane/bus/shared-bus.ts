// The bus of several instances on one Postgres: the other instances get an event some milliseconds later.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { Client } from 'pg';
import type { Timer } from '#shared/clock.ts';
import type { Database } from '../store/database/database.ts';
import type { Base } from './base.ts';
import { type Bus, type BusEvent, createLocalBus } from './bus.ts';

const CHANNEL = 'simrack_bus';
/** Events that justify a statement each. Messages are not sent: a waiting claim checks again within a second. */
const SHARED: ReadonlySet<BusEvent['kind']> = new Set([
  'subscription_changed',
  'call_changed',
  'call_ended',
  'tool_call_cancelled',
  'node_asked',
  'probe_arrived',
  'node_changed',
]);
/** The sender, then the event as JSON. */
const PAYLOAD = /^(\S+) (.*)$/s;
const CONNECT_TIMEOUT_MS = 5_000;
const RECONNECT_MS = 1_000;

interface SharedBus extends Bus {
  stop(): Promise<void>;
}

interface SharedBusParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  url: string;
}

/**
 * Opens a connection of its own that listens. While it is broken, events of other instances are missed, as hints may be. It reconnects
 * every second. Rejects if the first connection fails.
 */
export async function openSharedBus({ url, db, clock, log }: SharedBusParts): Promise<SharedBus> {
  const local = createLocalBus();
  const self = randomUUID();
  let isStopped = false;
  let listener: Client | undefined;
  let retry: Timer | undefined;

  const hear = (payload: string | undefined): void => {
    const [, sender, text] = PAYLOAD.exec(payload ?? '') ?? [];
    if (sender === self || text === undefined) return;
    const event = readEvent(text);
    if (event === undefined) log.warn({}, 'another instance sent an unknown event');
    else local.publish(event);
  };
  const keep = (client: Client): void => {
    listener = client;
    client.on('notification', ({ payload }) => hear(payload));
    client.once('end', () => {
      if (isStopped) return;
      log.warn({}, 'the connection to other instances broke: their events are missed');
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
      if (!SHARED.has(event.kind)) return;
      notifyInstances(db, event, self).catch((error: unknown) =>
        log.warn({ err: error }, 'notifying other instances failed'),
      );
    },
    subscribe: (listener) => local.subscribe(listener),
    async stop() {
      isStopped = true;
      retry?.cancel();
      await listener?.end().catch(() => undefined);
    },
  };
}

/** Notifies all instances except `sender`. Without `sender`, the caller is no instance. */
export async function notifyInstances(db: Database, event: BusEvent, sender: string = randomUUID()) {
  await sql`select pg_notify(${CHANNEL}, ${`${sender} ${JSON.stringify(event)}`})`.execute(db);
}

/** Checks the kind but not the shape: a program that may write to the database can write anything anyway. */
function readEvent(text: string): BusEvent | undefined {
  try {
    const event = JSON.parse(text, (key, value) =>
      key.endsWith('At') && value !== null ? new Date(value) : value,
    ) as BusEvent;
    return SHARED.has(event.kind) ? event : undefined;
  } catch {
    return undefined;
  }
}

async function listenOn(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'simrack-control-plane-bus',
  });
  // The end of a connection is also reported by its `end` event; without a listener the error would end the process.
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
