// Asks a node to restart the modem of one slot.
import { randomUUID } from 'node:crypto';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { OperatorRefusal, OperatorUnfinished } from '../domain/refusal.ts';
import { type CommandLink, NodeUnavailable } from './node-link.ts';

/** The node first finishes sending a message, if there is one. */
const COMMAND_TIMEOUT_MS = 10_000;

/** Resolves when the node has begun. Throws `OperatorRefusal`; `OperatorUnfinished` when the node may have begun. */
export async function restartModem(link: CommandLink, slot: string, force: boolean): Promise<void> {
  try {
    await link.command(
      'restart_modem',
      { slot, force },
      { id: `restart_${randomUUID()}`, timeLeftMs: COMMAND_TIMEOUT_MS, timeoutMs: COMMAND_TIMEOUT_MS },
    );
  } catch (error) {
    if (error instanceof CommandRefusal) throw new OperatorRefusal(wordsOf(error, link.nodeId));
    if (!(error instanceof NodeUnavailable)) throw error;
    if (!error.isSent) throw new OperatorRefusal(`${link.nodeId} did not get the request: ${error.message}`);
    throw new OperatorUnfinished(
      `${link.nodeId} has not answered (${error.message}). Check its slot to see whether the modem is restarting.`,
    );
  }
}

function wordsOf({ code, message }: CommandRefusal, node: string): string {
  if (code === 'command_unknown') return `${node} is too old to restart a modem from here. Upgrade it.`;
  if (code === 'line_busy') return 'This modem has a call. Wait until it ends, or use force.';
  return message;
}
