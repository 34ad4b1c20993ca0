// Why a modem is not served, as far as the error shows.
import { AtTimeoutError } from '../../at/at-error.ts';
import { SessionEndedError, type Trouble } from './trouble.ts';

/**
 * `absent`: there is no such device. `denied`: the daemon may not open the port, or another program has it.
 * Neither is cured by anything that is done to the modem.
 */
type SessionFailure = Trouble | 'absent' | 'denied';

const ABSENT = new Set(['ENOENT', 'ENODEV', 'ENXIO']);
const FORBIDDEN = new Set(['EACCES', 'EPERM']);
/** Errors of the serial library are texts. */
const FORBIDDEN_TEXT = /permission denied/i;
const TAKEN_TEXT = /cannot lock port|resource busy/i;

/** The failure that an error of opening or serving a modem stands for. */
export function sessionFailureOf(error: unknown): SessionFailure {
  if (error instanceof SessionEndedError) return error.trouble;
  if (error instanceof AtTimeoutError) return 'silent';
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  if (ABSENT.has(code)) return 'absent';
  const isForbidden = FORBIDDEN.has(code) || FORBIDDEN_TEXT.test(message);
  return isForbidden || isTaken(error) ? 'denied' : 'port_gone';
}

/** Whether a port cannot be opened because another program has it. */
export function isTaken(error: unknown): boolean {
  const { code, message = '' } = error as NodeJS.ErrnoException;
  return code === 'EBUSY' || TAKEN_TEXT.test(message);
}
