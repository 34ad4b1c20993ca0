// Resynchronizes commands and answers after an answer did not come, or belongs to no known command.
import { type Clock, sleep } from '#shared/clock.ts';
import { AtTimeoutError } from './at-error.ts';
import { type AtCommand, atCommand, atQuery } from './command.ts';
import type { ExchangeResult } from './exchange.ts';

/** Number of `AT` commands after a lost answer, before the daemon gives the port up. */
export const RESYNC_ATTEMPTS = 3;
export const RESYNC_TIMEOUT_MS = 2_000;
/** If nothing proves that the next answer belongs to the next command, the line must be quiet for this long. */
export const RESYNC_QUIET_MS = 100;
/** After this time a modem that is never quiet is used as it is. */
const QUIET_WAITS_MAX = 10;

/** No modem refuses it. The rest also helps if result codes are off or numeric. */
const SIGN_OF_LIFE = atCommand('AT');
const SIGN_OF_LIFE_AGAIN = atCommand('ATQ0V1');
/** No other command has this answer. Lines before it are late; lines after it are not. */
const MARKER = atQuery('AT+CMEE?', '+CMEE:');

/** The parts of the channel that this file needs. */
interface ResyncParts {
  readonly clock: Clock;
  /** Rejects when the port is gone. */
  readonly exchange: (command: AtCommand, timeoutMs: number) => Promise<ExchangeResult>;
  /** Time of the last byte, in ms since the epoch. */
  readonly lastByteAt: () => number;
}

/**
 * Resolves when the next answer will belong to the next command. Rejects with `AtTimeoutError` if the
 * modem does not answer, and as `exchange` does.
 */
export async function resynchronize(parts: ResyncParts, attempts: number, timeoutMs: number): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const sign = await parts.exchange(attempt === 1 ? SIGN_OF_LIFE : SIGN_OF_LIFE_AGAIN, timeoutMs);
    if (sign.kind !== 'final') continue;
    const marked = await parts.exchange(MARKER, timeoutMs);
    if (marked.kind !== 'final') continue;
    const isProved = marked.information.length > 0 && !marked.doubtful;
    if (!isProved) await quiet(parts);
    return;
  }
  throw new AtTimeoutError(SIGN_OF_LIFE.text, timeoutMs * attempts, false);
}

/** Waits until nothing has come for `RESYNC_QUIET_MS`. Lines that come while no command waits are URCs. */
async function quiet({ clock, lastByteAt }: ResyncParts): Promise<void> {
  for (let wait = 0; wait < QUIET_WAITS_MAX; wait += 1) {
    const silentMs = clock.now() - lastByteAt();
    if (silentMs >= RESYNC_QUIET_MS) return;
    await sleep(clock, RESYNC_QUIET_MS - silentMs);
  }
}
