// The operator API on the database itself, where no service runs.
import { systemClock } from '#shared/clock.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { PinVault, pinKeyFileOf } from '../pins/pin-vault.ts';
import { databasePlaceOf, openDatabase, openExisting } from '../store/database/database.ts';
import { databaseIdOf, secretOf } from '../store/database/secrets.ts';
import { COMMAND_LINE, createOperatorApi } from './operator-api.ts';
import type { NodeOperations } from './procedures/procedure.ts';

export interface StoreOptions {
  databaseUrl: string | undefined;
  dataDir: string;
  pinKeyFile?: string | undefined;
  /** Base URL that nodes are given, where no running service has one. */
  url: string;
}

export async function openOperatorStore(options: StoreOptions, mayCreate: boolean) {
  const { db, close } = await openPlace(options, mayCreate);
  return {
    ...createOperatorApi({
      db,
      clock: systemClock,
      nodes: NO_NODES,
      url: options.url,
      pins: new PinVault(pinKeyFileOf(options)),
      // No instance gets an event. Requests notice it within the second that answers are cached, open sockets within a minute.
      subscriptionChanged: () => undefined,
      acted: () => undefined,
      actor: COMMAND_LINE,
    }),
    isService: false,
    /** Id of the Postgres. */
    databaseId: async () => databaseIdOf(await secretOf(db, 'bus')),
    close,
  };
}

async function openPlace(options: StoreOptions, mayCreate: boolean) {
  const place = databasePlaceOf(options, 1);
  const opened = mayCreate ? await openDatabase(place) : await openExisting(place);
  if (opened !== undefined) return opened;
  throw new OperatorRefusal(
    'folder' in place
      ? `There is no database in ${place.folder}. Give the DATABASE_URL or DATA_DIR of the service.`
      : 'The database at DATABASE_URL is empty. Give the DATABASE_URL of the service, or start the service first.',
  );
}

const refuse = async (): Promise<never> => {
  throw new OperatorRefusal(
    'This command needs the running service. Run it on the same host, as the same user, and with the same DATA_DIR.',
  );
};
const NO_NODES: NodeOperations = { restartModem: refuse, sendTest: refuse, recheck: async () => undefined };
