// Runs an operator's commands, which may change the modem's settings. Meanwhile the session sends no message.
// Afterwards it sets the modem up again.
import { type Clock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { BASIC_SETTINGS } from './identity.ts';
import type { SmsOutbox } from './sms/sms-outbox.ts';

/** Sending a message takes seconds, and an operator at a terminal does not wait longer. */
const SENDING_MAX_MS = 10_000;

/** The message that is being sent took too long. */
export class SendingError extends Error {
  override name = 'SendingError';
}

/** The parts of a session that the change needs. */
interface OutsideChangeParts {
  readonly channel: AtChannel;
  readonly outbox: SmsOutbox | undefined;
  /** Repeats all settings of the session except those of the dialogue. Absent before the first set-up. */
  readonly setUp: (() => Promise<unknown>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Runs `work` between two messages. Resolves with its result while the modem is being set up again. Rejects with `SendingError`, and as
 * `work` does.
 */
export async function changeFromOutside<T>(parts: OutsideChangeParts, work: () => Promise<T>): Promise<T> {
  const { clock, outbox } = parts;
  const release = outbox?.hold() ?? (() => undefined);
  try {
    await withTimeout(
      clock,
      outbox?.sendingDone() ?? Promise.resolve(),
      SENDING_MAX_MS,
      () => new SendingError('the modem is sending a message: try again'),
    );
  } catch (error) {
    release();
    throw error;
  }
  try {
    return await work();
  } finally {
    void setUpAgain(parts).finally(release);
  }
}

/** Never rejects, because a modem that disconnects or restarts is set up again when it is opened. */
async function setUpAgain({ channel, log, setUp }: OutsideChangeParts): Promise<void> {
  if (setUp === undefined) return;
  try {
    for (const line of BASIC_SETTINGS) await ask(channel, atCommand(line));
    await setUp();
    log.info({}, 'modem set up again after an operator’s command');
  } catch (error) {
    log.warn({ err: error }, 'failed to set up the modem after an operator’s command');
  }
}
