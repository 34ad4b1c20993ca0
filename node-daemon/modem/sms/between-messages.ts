// Waits for the end of the message that is being sent, and keeps the next one back.
import { type Clock, withTimeout } from '#shared/clock.ts';
import type { SmsOutbox } from './sms-outbox.ts';

/** Sending a message takes seconds. A caller that waited this long tries again later. */
const SENDING_MAX_MS = 10_000;

/** The message that is being sent took too long. */
export class SendingError extends Error {
  override name = 'SendingError';
}

/** Resolves between two messages, with the function that lets the next one be sent. Rejects with `SendingError`. */
export async function betweenMessages(clock: Clock, outbox: SmsOutbox | undefined): Promise<() => void> {
  const release = outbox?.pauseSending() ?? (() => undefined);
  try {
    await withTimeout(
      clock,
      outbox?.sendingDone() ?? Promise.resolve(),
      SENDING_MAX_MS,
      () => new SendingError('the modem is still sending a message'),
    );
    return release;
  } catch (error) {
    release();
    throw error;
  }
}
