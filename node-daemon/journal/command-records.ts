// Applies records to the commands, and makes the records of a compacted command. Pure.
import type { FactOf, SmsOutcome } from '#shared/link/messages.ts';
import type { CommandMap, CommandState } from './command-map.ts';
import type { JournalRecord } from './record.ts';

type RecordOf<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>;
/** The records that describe a command, before and after compaction. */
type CommandRecord = RecordOf<'intent' | 'segment' | 'withdrawn' | 'doubt' | 'outcome'>;

/** Applies one record to the commands. */
export function applyCommandRecord(commands: CommandMap, record: CommandRecord): void {
  switch (record.kind) {
    case 'intent': {
      const { commandId, iccid, to, at, segments = 1, boot } = record;
      const nothing = { references: [], reported: [], outcome: undefined, ...digestOf(record) };
      commands.set(commandId, { iccid, to, at, segments, boot, ...nothing });
      break;
    }
    case 'segment':
      change(commands, record.commandId, ({ references }) => ({
        references: [...references, record.reference],
      }));
      break;
    case 'withdrawn':
      commands.delete(record.commandId);
      break;
    case 'doubt':
      for (const commandId of [...commands.open]) change(commands, commandId, () => ({ boot: undefined }));
      break;
    case 'outcome': {
      const { commandId, iccid, to, outcome, segments = 1, reported = [] } = record;
      const references = record.references ?? referencesOf(outcome);
      const at = record.at ?? outcome.at;
      commands.set(commandId, {
        iccid,
        to,
        at,
        segments,
        boot: undefined,
        references,
        reported,
        outcome,
        ...digestOf(record),
      });
      break;
    }
  }
}

/** An outcome replaces what was known before. An outcome of an unknown command adds the command. */
export function applyOutcome(commands: CommandMap, fact: FactOf<'sms_outcome'>): void {
  const { command_id: commandId, outcome } = fact;
  const known = commands.get(commandId) ?? {
    iccid: '',
    to: '',
    at: outcome.at,
    segments: 1,
    boot: undefined,
    references: [],
    reported: [],
  };
  const references = outcome.status === 'accepted' ? outcome.message_references : known.references;
  // The boot matters only until there is an outcome.
  commands.set(commandId, { ...known, boot: undefined, references, outcome });
}

/** A report proves that the network accepted the message. It supplies the reference of a segment whose answer did not come. */
export function applyReport(commands: CommandMap, fact: FactOf<'sms_report'>): void {
  if (fact.command_id === null) return;
  change(commands, fact.command_id, ({ references, reported, outcome }) => {
    const isNext = outcome?.status !== 'accepted' && fact.part === references.length + 1;
    const isLast = fact.status !== 'pending' && !reported.includes(fact.part);
    return {
      references: isNext ? [...references, fact.message_reference] : references,
      reported: isLast ? [...reported, fact.part] : reported,
    };
  });
}

/** Returns the records that produce this command. */
export function* commandRecords(commandId: string, command: CommandState): Generator<JournalRecord> {
  const { iccid, to, at, boot, outcome, references, reported } = command;
  const segments = command.segments === 1 ? {} : { segments: command.segments };
  if (outcome === undefined) {
    const written = boot === undefined ? {} : { boot };
    yield { kind: 'intent', commandId, iccid, to, at, ...segments, ...written, ...digestOf(command) };
    for (const reference of references) yield { kind: 'segment', commandId, reference };
    return;
  }
  yield {
    kind: 'outcome',
    commandId,
    iccid,
    to,
    outcome,
    at,
    ...segments,
    ...(outcome.status === 'accepted' || references.length === 0 ? {} : { references }),
    ...(reported.length === 0 ? {} : { reported }),
    ...digestOf(command),
  };
}

const digestOf = ({ digest }: { digest?: string }): { digest?: string } =>
  digest === undefined ? {} : { digest };

function referencesOf(outcome: SmsOutcome): readonly number[] {
  return outcome.status === 'accepted' ? outcome.message_references : [];
}

function change(
  commands: CommandMap,
  commandId: string,
  to: (command: CommandState) => Partial<CommandState>,
): void {
  const command = commands.get(commandId);
  if (command !== undefined) commands.set(commandId, { ...command, ...to(command) });
}
