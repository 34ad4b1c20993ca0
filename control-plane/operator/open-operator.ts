// Opens the operator API from outside the service: through the service that runs on this data folder, or else on the database itself.
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { PinVault, pinKeyFileOf } from '../pins/pin-vault.ts';
import { openDatabase, openExisting } from '../store/database/database.ts';
import { databaseIdOf, secretOf } from '../store/database/secrets.ts';
import { COMMAND_LINE, createOperatorApi } from './operator-api.ts';
import { findService, inTurn, type RunningService } from './operator-socket.ts';
import type { Operator } from './procedures/all-procedures.ts';
import type { NodeOperations } from './procedures/procedure.ts';

interface OperatorOptions {
  databaseUrl: string | undefined;
  dataDir: string;
  pinKeyFile?: string | undefined;
  /** Base URL that nodes are given, where no running service has one. */
  url: string;
}

type OpenOperator = Operator & { close(): Promise<void> };

/**
 * Opens it. With `mayCreate` it makes the database where there is none; else it throws `OperatorRefusal`: an empty one would
 * answer for that of the service.
 */
export const openOperator = (options: OperatorOptions, { mayCreate = false } = {}): Promise<OpenOperator> =>
  inTurn(() => open(options, mayCreate));

async function open(options: OperatorOptions, mayCreate: boolean): Promise<OpenOperator> {
  const { databaseUrl, dataDir, url } = options;
  const embedded = databaseUrl === undefined ? await findService(dataDir) : undefined;
  if (embedded !== undefined) return throughService(embedded);
  const { db, close } = await openStore(options, mayCreate);
  const service =
    databaseUrl &&
    (await findService(dataDir, databaseIdOf(await secretOf(db, 'bus'))).catch(() => undefined));
  if (service) {
    await close();
    return throughService(service);
  }
  return {
    ...createOperatorApi({
      db,
      clock: systemClock,
      nodes: NO_NODES,
      url,
      pins: new PinVault(pinKeyFileOf(options)),
      // No instance gets an event. Requests notice it within the second that answers are cached, open sockets within a minute.
      subscriptionChanged: () => undefined,
      acted: () => undefined,
      actor: COMMAND_LINE,
    }),
    close,
  };
}

const throughService = ({ operator }: RunningService): OpenOperator => ({
  call: (name, input) => operator.call(name, input),
  close: async () => undefined,
});

async function openStore({ databaseUrl, dataDir }: OperatorOptions, mayCreate: boolean) {
  const folder = join(dataDir, 'pglite');
  const place = databaseUrl === undefined ? { folder } : { url: databaseUrl, connectionsMax: 1 };
  const opened = mayCreate ? await openDatabase(place) : await openExisting(place);
  if (opened !== undefined) return opened;
  throw new OperatorRefusal(
    databaseUrl === undefined
      ? `there is no database in ${folder}: give the DATABASE_URL or DATA_DIR of the service`
      : 'the database at DATABASE_URL is empty: give the DATABASE_URL of the service, or start the service first',
  );
}

const refuse = async (): Promise<never> => {
  throw new OperatorRefusal(
    'this command needs the running service: run it on the same host, as the same user, and with the same DATA_DIR',
  );
};
const NO_NODES: NodeOperations = { restartModem: refuse, sendTest: refuse, recheck: async () => undefined };
