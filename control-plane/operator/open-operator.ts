// Opens the operator API from outside the service: through the service that runs on this data folder, or else on the database itself.
import { findRunningService, inTurn, type RunningService } from './operator-socket.ts';
import type { StoreOptions } from './operator-store.ts';
import type { Operator } from './procedures/all-procedures.ts';

export interface OpenOperator extends Operator {
  /** Whether a running service answers. */
  readonly isService: boolean;
  close(): Promise<void>;
}

/**
 * Opens it. With `mayCreate` it makes the database where there is none; else it throws `OperatorRefusal`: an empty one would
 * answer for that of the service.
 */
export const openOperator = (options: StoreOptions, { mayCreate = false } = {}): Promise<OpenOperator> =>
  inTurn(() => open(options, mayCreate));

async function open(options: StoreOptions, mayCreate: boolean): Promise<OpenOperator> {
  const { databaseUrl, dataDir } = options;
  const embedded = databaseUrl === undefined ? await findRunningService(dataDir) : undefined;
  if (embedded !== undefined) return throughService(embedded);
  // A command that a service runs needs no database driver.
  const { openOperatorStore } = await import('./operator-store.ts');
  const store = await openOperatorStore(options, mayCreate);
  const service =
    databaseUrl && (await findRunningService(dataDir, await store.databaseId()).catch(() => undefined));
  if (!service) return store;
  await store.close();
  return throughService(service);
}

const throughService = ({ operator }: RunningService): OpenOperator => ({
  isService: true,
  call: (name, input) => operator.call(name, input),
  close: async () => undefined,
});
