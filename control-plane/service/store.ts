// The parts that the whole service is built on: its database, and the bus between the instances on it.
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { type Bus, createLocalBus } from '../bus/bus.ts';
import { openSharedBus } from '../bus/shared-bus.ts';
import type { Config } from '../config/config.ts';
import { type Database, type OpenDatabase, openDatabase } from '../store/database/database.ts';
import { secretOf } from '../store/database/secrets.ts';

export interface Base {
  config: Config;
  db: Database;
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** Base URL of the public API, without a trailing slash. */
  url: string;
}

type Store = OpenDatabase & { bus: Bus; challengeSecret: string };

/** Rejects when the database cannot be used; then nothing is left open. */
export async function openStore(
  config: Config,
  { log, clock }: { log: Logger; clock: Clock },
): Promise<Store> {
  const { databaseUrl: url } = config;
  const { db, connections, close } = await openDatabase(
    url === undefined
      ? { folder: join(config.dataDir, 'pglite') }
      : { url, connectionsMax: config.databaseConnections },
  );
  try {
    const challengeSecret = await secretOf(db, 'payment_challenge');
    if (url === undefined) return { db, bus: createLocalBus(), challengeSecret, connections, close };
    const bus = await openSharedBus({ url, db, clock, log });
    return { db, bus, challengeSecret, connections, close: () => bus.stop().then(close) };
  } catch (error) {
    await close();
    throw error;
  }
}
