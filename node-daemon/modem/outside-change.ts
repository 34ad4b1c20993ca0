// Runs an operator's commands, which may change the modem's settings. Meanwhile the session sends no message.
// Afterwards it sets the modem up again.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';
import { BASIC_SETTINGS } from './identity.ts';
import { betweenMessages } from './sms/between-messages.ts';
import type { SmsOutbox } from './sms/sms-outbox.ts';

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
  const release = await betweenMessages(parts.clock, parts.outbox);
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
