// Why a modem is not served, as far as the error tells.
import { AtTimeoutError } from '../at/at-error.ts';
import { SessionEndedError, type Trouble } from './trouble.ts';

/**
 * `absent`: there is no such device. `denied`: the daemon may not open the port, or another program has it.
 * Neither is cured by anything that is done to the modem.
 */
export type Setback = Trouble | 'absent' | 'denied';

const ABSENT = new Set(['ENOENT', 'ENODEV', 'ENXIO']);
const DENIED = new Set(['EACCES', 'EPERM', 'EBUSY']);
/** Errors of the serial library are texts. */
const LOCKED = /cannot lock port|permission denied|resource busy/i;

/** What an error of opening or serving a modem means. */
export function setbackOf(error: unknown): Setback {
  if (error instanceof SessionEndedError) return error.trouble;
  if (error instanceof AtTimeoutError) return 'silent';
  const { code = '', message = '' } = error as NodeJS.ErrnoException;
  if (ABSENT.has(code)) return 'absent';
  return DENIED.has(code) || LOCKED.test(message) ? 'denied' : 'port_gone';
}
