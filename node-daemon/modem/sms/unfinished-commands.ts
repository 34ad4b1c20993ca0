// Concludes commands of an earlier process without a known outcome.
import type { SmsOutcome } from '#shared/link/messages.ts';
import type { CommandState } from '../../journal/command-map.ts';
import { appendPersistently, type PersistentAppendParts } from '../../journal/persistent-append.ts';
import { rejected } from './sms-outcome.ts';
import { areAllKnown } from './sms-reports.ts';

export const NODE_STOPPED = 'the node stopped while the modem had the message';
const NODE_STOPPED_BEFORE = 'the node stopped before the modem got the message';

/**
 * Commands of one SIM that the modem may have had when the process was killed. The outbox sends the next but one
 * only after the outcome of the first is written.
 */
export const MAYBE_SENT_MAX = 2;

/**
 * Concludes the commands that an earlier process did not finish. The first commands of each SIM without an outcome may have reached the
 * network, so they are `unknown`. Later commands were not sent, unless the system has restarted: a kill loses no written records, but a
 * power cut may, and then all commands are `unknown`. A command is `accepted` if all its references are known from answers or reports.
 * Call it before new commands are accepted. Resolves after the first attempt. If the disk refuses, the daemon tries again.
 */
export async function concludeUnfinished(parts: PersistentAppendParts): Promise<void> {
  const { journal, clock, log } = parts;
  const at = new Date(clock.now()).toISOString();
  const outcomes = outcomesOf(journal.state.commands, { at, bootId: journal.bootId });
  if (outcomes.size === 0) return;
  const unknown = [...outcomes.values()].filter(({ status }) => status === 'unknown').length;
  log.warn(
    { commands: outcomes.size, unknown },
    'concluded commands that an earlier process left without an outcome',
  );
  const facts = [...outcomes].map(([commandId, outcome]) => ({
    kind: 'fact' as const,
    fact: { kind: 'sms_outcome' as const, command_id: commandId, outcome },
  }));
  await appendPersistently(parts, facts).tried;
}

/** Returns outcomes by id for commands that have none. */
function outcomesOf(
  commands: Pick<ReadonlyMap<string, CommandState>, 'get'> & { readonly open: ReadonlySet<string> },
  { at, bootId }: { at: string; bootId: string },
): Map<string, SmsOutcome> {
  const outcomes = new Map<string, SmsOutcome>();
  const bySim = new Map<string, string[]>();
  for (const commandId of commands.open) {
    const iccid = commands.get(commandId)?.iccid ?? '';
    bySim.set(iccid, [...(bySim.get(iccid) ?? []), commandId]);
  }
  for (const commandIds of bySim.values()) {
    const isOneLife = commandIds.every((commandId) => commands.get(commandId)?.boot === bootId);
    commandIds.forEach((commandId, position) => {
      const wasNeverSent = isOneLife && position >= MAYBE_SENT_MAX;
      const { references = [], segments = 1 } = commands.get(commandId) ?? {};
      if (areAllKnown(references, segments)) {
        outcomes.set(commandId, { status: 'accepted', message_references: [...references], at });
        return;
      }
      outcomes.set(
        commandId,
        wasNeverSent
          ? rejected('not_sent', 'retry', { message: NODE_STOPPED_BEFORE, at })
          : { status: 'unknown', message: leftBehind(references.length, segments), at },
      );
    });
  }
  return outcomes;
}

function leftBehind(sent: number, segments: number): string {
  return sent === 0 ? NODE_STOPPED : `${NODE_STOPPED}: ${sent} of ${segments} segments were sent`;
}
