// Restarts a modem when no call and no message is in progress.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { AtTimeoutError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { listCalls } from '../../voice/call-list.ts';
import type { Telephone } from '../../voice/telephone.ts';
import { betweenMessages } from '../sms/between-messages.ts';
import type { SmsOutbox } from '../sms/sms-outbox.ts';

/** The traffic of a card, which a restart must not interrupt; both `undefined` before it begins. */
export interface Traffic {
  readonly outbox: SmsOutbox | undefined;
  readonly telephone: Telephone | undefined;
}

interface IdleRestartParts {
  readonly channel: AtChannel;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called just before the restart, which does not happen if it rejects. */
  readonly prepare?: () => Promise<void>;
  /** Ends the session too. */
  readonly restart: () => Promise<void>;
}

/** Restarts the modem between two messages, and never during a call. Never rejects: the next poll tries again. */
export async function restartWhenIdle(
  { channel, clock, log, prepare, restart }: IdleRestartParts,
  { outbox, telephone }: Traffic,
): Promise<void> {
  const isBusy = (): boolean => telephone?.isBusy === true;
  if (isBusy()) return;
  try {
    const release = await betweenMessages(clock, outbox);
    try {
      if ((await listCalls(channel))?.length !== 0 || isBusy()) return;
      await prepare?.();
      // A call may have begun meanwhile.
      if (!isBusy()) await restart();
    } finally {
      release();
    }
  } catch (error) {
    if (!(error instanceof AtTimeoutError)) log.warn({ err: error }, 'the modem is not restarted yet');
  }
}
