// The database of the service, and the bus between the instances on it.
import { join } from 'node:path';
import type { Base } from '../bus/base.ts';
import { type Bus, createLocalBus } from '../bus/bus.ts';
import { openSharedBus } from '../bus/shared-bus.ts';
import type { Config } from '../config/config.ts';
import { type OpenDatabase, openDatabase } from '../store/database/database.ts';
import { secretOf } from '../store/database/secrets.ts';

/** The parts that the whole service is built on. */
export interface ServiceBase extends Base {
  config: Config;
  /** Base URL of the public API, without a trailing slash. */
  url: string;
}

type Store = OpenDatabase & { bus: Bus; challengeSecret: string };

/** Rejects when the database cannot be used; then nothing is left open. */
export async function openStore(config: Config, { log, clock }: Pick<Base, 'log' | 'clock'>): Promise<Store> {
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
