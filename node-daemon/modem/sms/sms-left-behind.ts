// Settles the commands of an earlier process whose end the journal does not know.
import type { SmsOutcome } from '#shared/link/messages.ts';
import type { CommandState } from '../../journal/command-map.ts';
import { appendPersistently, type PersistentAppendParts } from '../../journal/persistent-append.ts';
import { rejected } from './sms-outcome.ts';
import { areAllKnown } from './sms-reports.ts';

export const LEFT_BEHIND = 'the node stopped while the modem had the message';
const NEVER_GIVEN = 'the node stopped before the modem got the message';

/**
 * Commands of one SIM that may have been with the modem when the process was killed: the outbox gives it the
 * next but one only after the outcome of the first is written.
 */
export const MAYBE_GIVEN = 2;

/**
 * Settles the commands that an earlier process did not finish. Of each SIM, the first commands without outcome may have reached the
 * network, so they are `unknown`. The commands after them certainly have not, as long as the system has not restarted: records written
 * before a kill are on the disk. After a power cut they may be missing, and all commands are `unknown`. A command is `accepted` if all its
 * references are known from answers or reports.
 * Called before new commands are taken. Resolves after the first attempt; where the disk refuses, the daemon tries again.
 */
export async function settleIntents(parts: PersistentAppendParts): Promise<void> {
  const { journal, clock, log } = parts;
  const at = new Date(clock.now()).toISOString();
  const outcomes = outcomesOf(journal.state.commands, { at, bootId: journal.bootId });
  if (outcomes.size === 0) return;
  const unknown = [...outcomes.values()].filter(({ status }) => status === 'unknown').length;
  log.warn(
    { commands: outcomes.size, unknown },
    'settled commands that an earlier process left without an outcome',
  );
  const facts = [...outcomes].map(([commandId, outcome]) => ({
    kind: 'fact' as const,
    fact: { kind: 'sms_outcome' as const, command_id: commandId, outcome },
  }));
  await appendPersistently(parts, facts).settled;
}

/** Outcomes for commands that have none, by id. */
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
      const wasNeverGiven = isOneLife && position >= MAYBE_GIVEN;
      const { references = [], segments = 1 } = commands.get(commandId) ?? {};
      if (areAllKnown(references, segments)) {
        outcomes.set(commandId, { status: 'accepted', message_references: [...references], at });
        return;
      }
      outcomes.set(
        commandId,
        wasNeverGiven
          ? rejected('not_sent', 'retry', { message: NEVER_GIVEN, at })
          : { status: 'unknown', message: leftBehind(references.length, segments), at },
      );
    });
  }
  return outcomes;
}

function leftBehind(sent: number, segments: number): string {
  return sent === 0 ? LEFT_BEHIND : `${LEFT_BEHIND}: ${sent} of ${segments} segments were sent`;
}
