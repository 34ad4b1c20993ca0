// Brings commands and answers back in step, after an answer that did not come or that belongs to no known command.
import { type Clock, sleep } from '#shared/clock.ts';
import { AtTimeoutError } from './at-error.ts';
import { type AtCommand, atCommand, atQuery } from './command.ts';
import type { ExchangeResult } from './exchange.ts';

/** After a lost answer the modem is asked for a sign of life this often before the port is given up. */
export const RESYNC_ATTEMPTS = 3;
export const RESYNC_TIMEOUT_MS = 2_000;
/** Where nothing proves that the next answer is the next command's, the line must be quiet this long. */
export const RESYNC_QUIET_MS = 100;
/** A modem that never is quiet is used as it is. */
const QUIET_WAITS_MAX = 10;

/** A sign of life: no modem refuses it. The second one also helps where result codes are off or numbers. */
const SIGN_OF_LIFE = atCommand('AT');
const SIGN_OF_LIFE_AGAIN = atCommand('ATQ0V1');
/** No other command is answered like this. Lines before its answer were late; lines after it are not. */
const MARKER = atQuery('AT+CMEE?', '+CMEE:');

/** The parts of the channel that this file needs. */
interface RhythmParts {
  readonly clock: Clock;
  /** Rejects when the port is gone. */
  readonly exchange: (command: AtCommand, timeoutMs: number) => Promise<ExchangeResult>;
  /** When the last byte came, in ms since the epoch. */
  readonly lastByteAt: () => number;
}

/**
 * Resolves when the next answer will be that of the next command. Rejects with `AtTimeoutError` when
 * there is no sign of life, and as `exchange` does.
 */
export async function findRhythm(parts: RhythmParts, attempts: number, timeoutMs: number): Promise<void> {
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
async function quiet({ clock, lastByteAt }: RhythmParts): Promise<void> {
  for (let wait = 0; wait < QUIET_WAITS_MAX; wait += 1) {
    const silentMs = clock.now() - lastByteAt();
    if (silentMs >= RESYNC_QUIET_MS) return;
    await sleep(clock, RESYNC_QUIET_MS - silentMs);
  }
}
