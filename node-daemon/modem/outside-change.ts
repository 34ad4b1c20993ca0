// An operator's commands may change the settings of the modem. The session gives it no message meanwhile, and sets it up again afterwards.
import { type Clock, withTimeout } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { BASIC_SETTINGS } from './identity.ts';
import type { SmsOutbox } from './sms/sms-outbox.ts';

/** A message on the air takes seconds; an operator at a terminal does not wait longer. */
const SENDING_MAX_MS = 10_000;

/** A message is on its way for too long. */
export class SendingError extends Error {
  override name = 'SendingError';
}

/** The parts of a session that the change needs. */
interface OutsideChangeParts {
  readonly channel: AtChannel;
  readonly outbox: SmsOutbox | undefined;
  /** Everything that the session settled with the modem beyond how to talk; absent before it did. */
  readonly setUp: (() => Promise<unknown>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Does `work` between two messages, not within one. Resolves with its result, while the modem is being set up again. Rejects with
 * `SendingError`, and as `work` does.
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

/** Never rejects: a modem that went away or restarts is set up when it is opened. */
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
