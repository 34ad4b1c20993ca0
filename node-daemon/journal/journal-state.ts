// What the journal says: facts to send, commands and their outcomes, entries to delete, parts that wait.
// Pure: the state is what its records, applied in order, make of it.
import assert from 'node:assert/strict';
import type { Fact, SmsOutcome } from '#shared/link/messages.ts';
import {
  JOURNAL_FORMAT,
  type JournalRecord,
  type PartRecord,
  type PinRecord,
  type StorageEntry,
} from './record.ts';

/** A repeated command id is answered from its outcome for this long. */
export const OUTCOME_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** About 30 MB of memory; ten racks of modems that send all day stay below it for the time above. */
export const COMMANDS_MAX = 100_000;

/** A command that was given to a modem. */
export interface CommandState {
  readonly iccid: string;
  readonly to: string;
  /** ISO 8601. */
  readonly at: string;
  /** `undefined` while the modem has the command, or had it when the daemon died. */
  readonly outcome: SmsOutcome | undefined;
}

/** An entry that was read and may still lie on the modem. */
export interface EntryState {
  readonly entry: StorageEntry;
  /** The modem said that it deleted the entry. */
  readonly deleted: boolean;
}

/** Parts of one message that wait for the others. */
export interface PartGroup {
  readonly iccid: string;
  readonly parts: readonly PartRecord[];
}

/** All that the records of a journal say. */
export interface JournalState {
  journalId: string;
  nextSequence: number;
  /** Highest acknowledged sequence. */
  acknowledged: number;
  /** Facts that are not acknowledged, by sequence, in order and without gaps. */
  readonly facts: Map<number, Fact>;
  /** By command id, oldest first. */
  readonly commands: Map<string, CommandState>;
  /** Entries that were read and are not known to be gone, by `entryKey`. */
  readonly entries: Map<string, EntryState>;
  /** By the group's key. */
  readonly groups: Map<string, PartGroup>;
  /** PINs that were refused or may have been, by digest; each one was put into the configuration by hand. */
  readonly pins: Map<string, PinRecord>;
}

/** The state for those who only read it. */
export interface ReadonlyJournalState {
  readonly journalId: string;
  readonly nextSequence: number;
  readonly acknowledged: number;
  readonly facts: ReadonlyMap<number, Fact>;
  readonly commands: ReadonlyMap<string, CommandState>;
  readonly entries: ReadonlyMap<string, EntryState>;
  readonly groups: ReadonlyMap<string, PartGroup>;
  readonly pins: ReadonlyMap<string, PinRecord>;
}

/** The state of a journal without records. */
export function emptyState(journalId: string): JournalState {
  return {
    journalId,
    nextSequence: 1,
    acknowledged: 0,
    facts: new Map(),
    commands: new Map(),
    entries: new Map(),
    groups: new Map(),
    pins: new Map(),
  };
}

/** The place of an entry; two messages cannot be there at once. */
export function entryKey(entry: Pick<StorageEntry, 'iccid' | 'storage' | 'index'>): string {
  return `${entry.iccid}/${entry.storage}/${entry.index}`;
}

/** Brings the state one record forward. */
export function applyRecord(state: JournalState, record: JournalRecord): void {
  switch (record.kind) {
    case 'journal':
      assert(record.format <= JOURNAL_FORMAT, 'the journal was written by a newer program');
      state.journalId = record.journalId;
      state.nextSequence = record.nextSequence;
      state.acknowledged = record.acknowledged;
      break;
    case 'fact':
      applyFact(state, record);
      break;
    case 'ack':
      applyAcknowledgement(state, record.sequence);
      break;
    case 'intent':
      setCommand(state, record.commandId, { ...record, outcome: undefined });
      break;
    case 'outcome':
      setCommand(state, record.commandId, { ...record, at: record.outcome.at });
      break;
    case 'part': {
      const waiting = state.groups.get(record.group)?.parts ?? [];
      state.groups.set(record.group, { iccid: record.iccid, parts: [...waiting, record.part] });
      setEntry(state, record.entry);
      break;
    }
    case 'read':
      setEntry(state, record.entry);
      break;
    case 'deleted':
      settleEntry(state, record.entry, (key) =>
        state.entries.set(key, { entry: record.entry, deleted: true }),
      );
      break;
    case 'gone':
      settleEntry(state, record.entry, (key) => state.entries.delete(key));
      break;
    case 'pin':
      if (record.result === 'accepted') state.pins.delete(record.digest);
      else state.pins.set(record.digest, record);
      break;
  }
}

/** The records that make this state: what a compacted journal holds. */
export function snapshotOf(state: JournalState): JournalRecord[] {
  const { journalId, nextSequence, acknowledged } = state;
  // Facts are re-applied below, so that the head starts where the oldest kept one does.
  const head = nextSequence - state.facts.size;
  const records: JournalRecord[] = [
    { kind: 'journal', format: JOURNAL_FORMAT, journalId, nextSequence: head, acknowledged },
  ];
  for (const [commandId, { iccid, to, at, outcome }] of state.commands) {
    if (outcome === undefined) records.push({ kind: 'intent', commandId, iccid, to, at });
    else records.push({ kind: 'outcome', commandId, iccid, to, outcome });
  }
  for (const [sequence, fact] of state.facts) records.push({ kind: 'fact', sequence, fact });
  for (const [group, { iccid, parts }] of state.groups) {
    for (const part of parts) records.push({ kind: 'part', group, iccid, part });
  }
  for (const { entry, deleted } of state.entries.values()) {
    records.push({ kind: 'read', entry });
    if (deleted) records.push({ kind: 'deleted', entry });
  }
  records.push(...state.pins.values());
  return records;
}

/** Forgets outcomes whose time is over. `now` in milliseconds since the epoch. */
export function dropOldOutcomes(state: JournalState, now: number): void {
  for (const [commandId, { outcome }] of state.commands) {
    if (outcome !== undefined && Date.parse(outcome.at) < now - OUTCOME_KEPT_MS) {
      state.commands.delete(commandId);
    }
  }
}

/** Gives the journal a new identity: its facts are numbered from 1 again and none counts as acknowledged. */
export function renumber(state: JournalState, journalId: string): void {
  const facts = [...state.facts.values()];
  state.facts.clear();
  facts.forEach((fact, index) => {
    state.facts.set(index + 1, fact);
  });
  state.journalId = journalId;
  state.nextSequence = facts.length + 1;
  state.acknowledged = 0;
}

function applyFact(state: JournalState, record: Extract<JournalRecord, { kind: 'fact' }>): void {
  const { fact, sequence } = record;
  state.facts.set(sequence, fact);
  state.nextSequence = sequence + 1;
  if (record.group !== undefined) state.groups.delete(record.group);
  if (fact.kind === 'sms_outcome') {
    const command = state.commands.get(fact.command_id);
    const { iccid = '', to = '' } = command ?? {};
    setCommand(state, fact.command_id, { iccid, to, at: fact.outcome.at, outcome: fact.outcome });
  }
  setEntry(state, record.entry);
}

/** Forgets the facts up to `sequence`, and never takes an acknowledgement back. */
export function applyAcknowledgement(state: JournalState, sequence: number): void {
  for (const kept of state.facts.keys()) {
    if (kept > sequence) break;
    state.facts.delete(kept);
  }
  state.acknowledged = Math.max(state.acknowledged, Math.min(sequence, state.nextSequence - 1));
}

function setCommand(state: JournalState, commandId: string, command: CommandState): void {
  const { iccid, to, at, outcome } = command;
  state.commands.set(commandId, { iccid, to, at, outcome });
  if (state.commands.size <= COMMANDS_MAX) return;
  for (const [oldest, { outcome: known }] of state.commands) {
    if (known === undefined) continue;
    state.commands.delete(oldest);
    return;
  }
}

function setEntry(state: JournalState, entry: StorageEntry | undefined): void {
  if (entry !== undefined) state.entries.set(entryKey(entry), { entry, deleted: false });
}

/** Settles an entry unless its place has been taken by another message since. */
function settleEntry(state: JournalState, entry: StorageEntry, settle: (key: string) => void): void {
  const key = entryKey(entry);
  if (state.entries.get(key)?.entry.digest === entry.digest) settle(key);
}
