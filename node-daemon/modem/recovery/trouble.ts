// The reasons why the session with a modem ended. The recovery chooses its steps by them.
import { messageOf } from '#shared/error-message.ts';
import { AtTimeoutError, PortClosedError } from '../../at/at-error.ts';
import { HangUpFailedError } from '../../voice/call-list.ts';

/**
 * `port_gone`: the device or its port disappeared. `silent`: the modem does not answer. `restarted`: it restarted or lost its settings.
 * `sim_changed`: the SIM was removed or changed. `no_service`: the SIM is ready, but had no network for too long. `faulty`: the set-up
 * keeps failing, or the modem does not hang up. `requested`: an operator requested a restart.
 */
export type Trouble =
  | ('port_gone' | 'silent' | 'restarted' | 'sim_changed' | 'no_service' | 'faulty')
  | 'requested';

/** The session ended. The modem must be opened and set up again. */
export class SessionEndedError extends Error {
  override name = 'SessionEndedError';
  readonly trouble: Trouble;

  constructor(trouble: Trouble, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.trouble = trouble;
  }
}

/** Returns an error as the end of a session, with its reason. */
export function endOf(error: unknown): SessionEndedError {
  const cause = error instanceof PortClosedError ? (error.cause ?? error) : error;
  if (cause instanceof SessionEndedError) return cause;
  const message = messageOf(cause);
  return new SessionEndedError(troubleOf(error, cause), message, cause);
}

function troubleOf(error: unknown, cause: unknown): Trouble {
  if (cause instanceof AtTimeoutError) return 'silent';
  const isPortGone = error instanceof PortClosedError && !(cause instanceof HangUpFailedError);
  return isPortGone ? 'port_gone' : 'faulty';
}

/**
 * `absent`: the device does not exist. `denied`: the daemon may not open the port, or another program has it open.
 * No recovery step helps against these two.
 */
type SessionFailure = Trouble | 'absent' | 'denied';

const ABSENT = new Set(['ENOENT', 'ENODEV', 'ENXIO']);
const FORBIDDEN = new Set(['EACCES', 'EPERM']);
/** The serial library reports errors as text. */
const FORBIDDEN_TEXT = /permission denied/i;
const TAKEN_TEXT = /cannot lock port|resource busy/i;

/** Returns the reason for an error of opening or serving a modem. */
export function sessionFailureOf(error: unknown): SessionFailure {
  if (error instanceof SessionEndedError) return error.trouble;
  if (error instanceof AtTimeoutError) return 'silent';
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  if (ABSENT.has(code)) return 'absent';
  const isForbidden = FORBIDDEN.has(code) || FORBIDDEN_TEXT.test(message);
  return isForbidden || isTaken(error) ? 'denied' : 'port_gone';
}

/** Returns whether another program has the port open. */
export function isTaken(error: unknown): boolean {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  return code === 'EBUSY' || TAKEN_TEXT.test(message);
}
