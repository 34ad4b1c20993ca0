// Why the session with a modem ended: the recovery chooses its step by this.
import { AtTimeoutError, PortClosedError } from '../../at/at-error.ts';

/**
 * `port_gone`: the device or its port went away. `silent`: the modem does not answer. `restarted`: it restarted or lost its settings.
 * `sim_changed`: the SIM went, or is another one. `no_service`: the SIM is open and no network serves it for too long. `faulty`: the set-up
 * keeps failing. `requested`: an operator wants it to restart.
 */
export type Trouble =
  | ('port_gone' | 'silent' | 'restarted' | 'sim_changed' | 'no_service' | 'faulty')
  | 'requested';

/** The session is over: the modem has to be opened and set up again. */
export class SessionEndedError extends Error {
  override name = 'SessionEndedError';
  readonly trouble: Trouble;

  constructor(trouble: Trouble, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.trouble = trouble;
  }
}

/** The end of the session, in the form that the recovery needs. */
export function endOf(error: unknown): SessionEndedError {
  const cause = error instanceof PortClosedError ? (error.cause ?? error) : error;
  if (cause instanceof SessionEndedError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new SessionEndedError(troubleOf(error, cause), message, cause);
}

function troubleOf(error: unknown, cause: unknown): Trouble {
  if (cause instanceof AtTimeoutError) return 'silent';
  return error instanceof PortClosedError ? 'port_gone' : 'faulty';
}
