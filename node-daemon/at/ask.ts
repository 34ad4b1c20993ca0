// Sends a modem a query that it may not support.
import { isUnanswered } from './at-error.ts';
import type { AtChannel } from './channel.ts';
import type { AtCommand } from './command.ts';
import type { Priority } from './command-queue.ts';

/**
 * Returns the lines of the answer; `undefined` if the modem answers with an error, as it does to unknown commands. Rejects with
 * `AtTimeoutError` and `PortClosedError`.
 */
export async function ask(
  channel: AtChannel,
  command: AtCommand,
  priority: Priority = 'normal',
): Promise<string[] | undefined> {
  try {
    return (await channel.send(command, priority)).map(({ line }) => line);
  } catch (error) {
    if (isUnanswered(error)) throw error;
    return undefined;
  }
}
