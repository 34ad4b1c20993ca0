// Gives a modem commands that it may not support.
import type { Logger } from '#shared/log.ts';
import { ask } from '../at/ask.ts';
import { AtTimeoutError } from '../at/at-error.ts';
import type { AtChannel } from '../at/channel.ts';
import { atCommand } from '../at/command.ts';

/** Gives these command lines in turn. As `optional`. */
export async function giveAll(
  { channel, log }: { channel: AtChannel; log: Logger },
  lines: readonly string[],
): Promise<void> {
  for (const line of lines) await optional(log, ask(channel, atCommand(line)));
}

/** Makes support different commands, so no line is required, and an unanswered one costs only its time. */
export async function optional(log: Logger, step: Promise<unknown>): Promise<void> {
  try {
    await step;
  } catch (error) {
    if (!(error instanceof AtTimeoutError)) throw error;
    log.warn({ err: error }, 'the modem did not answer a set-up command');
  }
}
