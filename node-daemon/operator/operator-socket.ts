// The daemon's socket for operators' commands.
import { join, resolve } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { LocalServer } from '#shared/operator/local-socket.ts';
import { listenOperators, type OperatorStream, writeLines } from '#shared/operator/operator-server.ts';
import type { DaemonSettings } from '../config/options.ts';
import type { NodeOperator, Streams } from './node-operator.ts';

/** Its folder is the gate where it is the data folder; elsewhere its group is. */
const SOCKET_MODE = 0o660;

export const socketPathOf = ({ config, dataDir }: Pick<DaemonSettings, 'config' | 'dataDir'>): string =>
  config.operatorSocket ?? join(resolve(dataDir), 'operator.sock');

/** Listens for commands. Without a socket, and with a line in the log, where there cannot be one: numbers are served without it. */
export async function listenForCommands(
  operator: NodeOperator,
  settings: DaemonSettings,
  { clock, log }: { clock: Clock; log: Logger },
): Promise<LocalServer> {
  const path = socketPathOf(settings);
  const streamOf =
    (name: keyof Streams): OperatorStream =>
    (out, { signal, query }) =>
      writeLines(operator.follow(name, { signal, isFollowed: query.get('follow') !== 'no' }), out, {
        clock,
        signal,
      });
  try {
    return await listenOperators({
      program: 'node-daemon',
      path,
      mode: SOCKET_MODE,
      log,
      call: (name, input, caller) => operator.call(name as never, input as never, caller),
      streams: { logs: streamOf('logs'), watch: streamOf('watch') },
    });
  } catch (error) {
    log.error({ err: error, path }, 'operator commands cannot reach the daemon: opening the socket failed');
    return { stop: async () => undefined };
  }
}
