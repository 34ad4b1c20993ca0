// An operator's access to the modems of a host: through the running daemon, or without one.
import type { OperatorClient } from '#shared/operator/procedure.ts';
import type { PROCEDURES } from './procedures/all-procedures.ts';
import type { WatchedHost } from './slot-activity.ts';

/** The streams and their items: a line of the log, and the state of all slots now. */
export interface Streams {
  logs: Record<string, unknown>;
  watch: WatchedHost;
}

/** Rejects with `OperatorError`. */
export interface NodeOperator extends OperatorClient<typeof PROCEDURES> {
  /** False: it has the modems itself, until `close`. */
  readonly isRunningDaemon: boolean;
  /** Ends with the signal; throws when the daemon goes away. `isFollowed` false: only what there is now. */
  follow<S extends keyof Streams>(
    stream: S,
    options: { signal: AbortSignal; isFollowed?: boolean },
  ): AsyncIterable<Streams[S]>;
  close(): Promise<void>;
}
