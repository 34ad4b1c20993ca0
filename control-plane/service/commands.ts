// The socket for operator commands to a service with an embedded database.
import { writeBackup } from '../backup/backup-writer.ts';
import type { Operations } from '../operator/operations.ts';
import { COMMAND_LINE } from '../operator/operator-api.ts';
import { listenForCommands } from '../operator/operator-socket.ts';
import type { Base } from './base.ts';

/** Undefined with Postgres, which commands can use next to the service. */
export async function serveCommands({ config, db, clock, log }: Base, operations: Operations) {
  if (config.databaseUrl !== undefined) return undefined;
  return listenForCommands({
    folder: config.dataDir,
    log,
    operator: operations.operatorFor(COMMAND_LINE),
    backUp: (out) => writeBackup(db, out, new Date(clock.now())),
  });
}
