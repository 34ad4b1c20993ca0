// The database of the service, and the bus between the instances on it.
import type { Random } from '#shared/random.ts';
import type { Base } from '../bus/base.ts';
import type { Bus } from '../bus/bus.ts';
import { LocalBus } from '../bus/local-bus.ts';
import { MessageSeal } from '../bus/message-seal.ts';
import { openNatsBus } from '../bus/nats-bus.ts';
import type { Config } from '../config/config.ts';
import type { PinVault } from '../pins/pin-vault.ts';
import { databasePlaceOf, type OpenDatabase, openDatabase } from '../store/database/database.ts';
import { InstanceLock } from '../store/database/instance-lock.ts';
import { migrate, newestOf, schemaRefusal } from '../store/database/migrations.ts';
import type { Migrations } from '../store/database/schema-versions.ts';
import { databaseIdOf, secretOf } from '../store/database/secrets.ts';

/** The parts that the whole service is built on. */
export interface ServiceBase extends Base {
  config: Config;
  /** Base URL of the public API, without a trailing slash. */
  url: string;
  pins: PinVault;
  random: Random;
}

export interface Store extends OpenDatabase {
  bus: Bus;
  challengeSecret: string;
  /** Id of the Postgres; undefined for the embedded database. */
  databaseId: string | undefined;
  /** Rejects when another version has changed the schema so that this program cannot go on. Undefined for the embedded database. */
  failed: Promise<never> | undefined;
}

/** Rejects when the database cannot be used; then nothing is left open. */
export async function openStore(
  config: Config,
  base: Pick<Base, 'log' | 'clock'>,
  migrations?: Migrations,
): Promise<Store> {
  const { databaseUrl: url } = config;
  const { db, connections, close } = await openDatabase(
    databasePlaceOf(config, config.databaseConnections),
    migrations,
  );
  const opened = [close];
  const closeAll = async (): Promise<void> => {
    for (const close of opened.reverse()) await close();
  };
  try {
    let failed: Promise<never> | undefined;
    if (url !== undefined) {
      const isShared = config.natsUrl !== undefined;
      const refusal = (): Promise<string | undefined> => schemaRefusal(db, migrations);
      const lock = await InstanceLock.take({
        url,
        isShared,
        migration: newestOf(migrations),
        refusal,
        ...base,
      });
      failed = lock.failed;
      opened.push(() => lock.release());
      // A newer version did not see this instance before it had the lock, and may have changed the schema since.
      await migrate(db, migrations);
    }
    const secret = await secretOf(db, 'bus');
    const bus = await openBus(config, secret, base);
    opened.push(() => bus.stop());
    return {
      db,
      bus,
      challengeSecret: await secretOf(db, 'payment_challenge'),
      connections,
      databaseId: url === undefined ? undefined : databaseIdOf(secret),
      failed,
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function openBus(config: Config, secret: string, base: Pick<Base, 'log' | 'clock'>): Promise<Bus> {
  const { natsUrl: servers, natsCredentialsFile: credentialsFile, natsCaFile: caFile } = config;
  if (servers === undefined) return new LocalBus(base.clock);
  const options = { servers, credentialsFile, caFile };
  return openNatsBus({
    options,
    seal: new MessageSeal(secret),
    prefix: `simrack-${databaseIdOf(secret)}`,
    ...base,
  });
}
