// Commands to a running service: over a Unix socket in the data folder, which only its user may open. An embedded database belongs to
// one process, and only a service can ask nodes.
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sleep, systemClock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { LocalServer } from '#shared/operator/local-socket.ts';
import { SocketClient } from '#shared/operator/operator-client.ts';
import { OperatorError } from '#shared/operator/operator-error.ts';
import { listenOperators } from '#shared/operator/operator-server.ts';
import { FolderInUseError } from '#shared/process/single-instance.ts';
import type { Operator, PROCEDURES } from './procedures/all-procedures.ts';

/** More than the service waits for a statement of its database. */
const ANSWER_TIMEOUT_MS = 30_000;

/** `databaseId`: id of a Postgres. Services on other databases may have the same data folder. */
const socketPathIn = (folder: string, databaseId?: string): string =>
  join(resolve(folder), databaseId === undefined ? 'operator.sock' : `operator-${databaseId}.sock`);

/** Listens in `folder`. */
export const listenForCommands = ({
  folder,
  databaseId,
  operator,
  backUp,
  log,
}: {
  folder: string;
  /** Id of the Postgres; undefined for the embedded database. */
  databaseId: string | undefined;
  operator: Operator;
  /** Writes a backup. */
  backUp: (out: Writable) => Promise<void>;
  log: Logger;
}): Promise<LocalServer> =>
  listenOperators({
    program: 'control-plane',
    path: socketPathIn(folder, databaseId),
    log,
    call: (name, input) => operator.call(name as never, input as never),
    streams: { backup: backUp },
  });

/** The operations of a running service for an operator. */
export interface RunningService {
  operator: Operator;
  /** Writes a backup, and ends `out`. */
  backUp(out: Writable): Promise<void>;
}

/** The service that runs on `folder`, and on the Postgres with this id; undefined when none does. */
export async function findRunningService(
  folder: string,
  databaseId?: string,
): Promise<RunningService | undefined> {
  const client = new SocketClient<typeof PROCEDURES>({
    socketPath: socketPathIn(folder, databaseId),
    program: 'control-plane',
    timeoutMs: ANSWER_TIMEOUT_MS,
  });
  if (!(await client.isThere('operators', ANSWER_TIMEOUT_MS))) return undefined;
  return {
    operator: client,
    backUp: async (out) => pipeline(client.download('backup'), out),
  };
}

const WAIT_MS = 60_000;
const PAUSE_MS = 100;

/**
 * Returns the result of `open`. Retries while another process has the database: a command is over soon, and a service
 * that starts opens its socket soon. Throws `OperatorError` after `waitMs`.
 */
export async function inTurn<T>(open: () => Promise<T>, waitMs = WAIT_MS): Promise<T> {
  const deadlineMs = systemClock.now() + waitMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof FolderInUseError)) throw error;
      if (systemClock.now() >= deadlineMs)
        throw new OperatorError('unreachable', `${error.message}: stop it first`, error);
    }
    await sleep(systemClock, PAUSE_MS);
  }
}
