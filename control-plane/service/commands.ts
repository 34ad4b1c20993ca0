// The socket over which an operator's commands reach a service with an embedded database.
import { writeBackup } from '../backup/backup-writer.ts';
import { createNodeRegistry } from '../nodes/registry.ts';
import { COMMAND_LINE } from '../operator/desk.ts';
import type { Operations } from '../operator/operations.ts';
import { listenOperator } from '../operator/operator-socket.ts';
import type { Base } from './base.ts';

/** Undefined with Postgres, which has room for commands beside the service. */
export async function serveCommands({ config, db, clock, log, url }: Base, operations: Operations) {
  if (config.databaseUrl !== undefined) return undefined;
  return listenOperator({
    folder: config.dataDir,
    url,
    log,
    registry: createNodeRegistry({ db, clock }),
    desk: operations.deskFor(COMMAND_LINE),
    backUp: (out) => writeBackup(db, out, new Date(clock.now())),
  });
}
