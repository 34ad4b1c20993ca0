// Finds the reason of a failed session in its error.
import { AtTimeoutError } from '../../at/at-error.ts';
import { SessionEndedError, type Trouble } from './trouble.ts';

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
