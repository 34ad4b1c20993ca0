// Opens the operator API from outside the service: on the same Postgres, through the service that has the embedded
// database, or on that database itself while no service runs.
import { join } from 'node:path';
import { systemClock } from '#shared/clock.ts';
import { notifyInstances } from '../bus/shared-bus.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { createNodeReach } from '../nodes/node-reach.ts';
import { openDatabase, openExisting } from '../store/database/database.ts';
import { COMMAND_LINE, createOperatorApi } from './operator-api.ts';
import { findService, inTurn } from './operator-socket.ts';
import type { Operator } from './procedures/all-procedures.ts';

interface OperatorOptions {
  databaseUrl: string | undefined;
  dataDir: string;
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

async function open(
  { databaseUrl, dataDir, url }: OperatorOptions,
  mayCreate: boolean,
): Promise<OpenOperator> {
  if (databaseUrl === undefined) {
    const operator = (await findService(dataDir))?.operator;
    if (operator !== undefined)
      return { call: (name, input) => operator.call(name, input), close: async () => undefined };
  }
  const folder = join(dataDir, 'pglite');
  const place = databaseUrl === undefined ? { folder } : { url: databaseUrl, connectionsMax: 1 };
  const opened = mayCreate ? await openDatabase(place) : await openExisting(place);
  if (opened === undefined) {
    throw new OperatorRefusal(
      databaseUrl === undefined
        ? `there is no database in ${folder}: give DATABASE_URL or DATA_DIR as the service has it`
        : 'the database of DATABASE_URL is empty: give that of the service, or start the service first',
    );
  }
  const { db, close } = opened;
  const clock = systemClock;
  const notify = (nodeId: string): Promise<void> => notifyInstances(db, { kind: 'node_asked', nodeId });
  const nodes = createNodeReach({ db, clock, notify });
  const subscriptionChanged = (subscriptionId: string): Promise<void> =>
    notifyInstances(db, { kind: 'subscription_changed', subscriptionId });
  return {
    ...createOperatorApi({ db, clock, nodes, url, subscriptionChanged, actor: COMMAND_LINE }),
    close,
  };
}
