// The state of the journal: facts to send, commands and their outcomes, entries to delete, parts that wait. Pure: the state follows from
// its records, applied in order.
import assert from 'node:assert/strict';
import type { Fact } from '#shared/link/messages.ts';
import { CommandMap, type CommandState, type ReadonlyCommandMap } from './command-map.ts';
import { applyCommandRecord, applyOutcome, applyReport, commandRecords } from './command-records.ts';
import {
  JOURNAL_FORMAT,
  type JournalRecord,
  type PartRecord,
  type PinRecord,
  type StorageEntry,
} from './record.ts';

/** A repeated command id is answered from its outcome for this long. */
export const OUTCOME_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * Entries that are remembered until they are gone. A rack has a tenth of them: more belong to SIMs that left,
 * and the oldest are forgotten.
 */
export const ENTRIES_MAX = 50_000;
/** More modems than a daemon serves in years. */
const CARDS_MAX = 1_024;

/** An entry that was read and may still lie on the modem. */
interface EntryState {
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
  readonly commands: CommandMap;
  /** Entries that were read and are not known to be gone, by `entryKey`. */
  readonly entries: Map<string, EntryState>;
  /** By the group's key. */
  readonly groups: Map<string, PartGroup>;
  /** PINs that were refused or may have been, by digest; each one was put into the configuration by hand. */
  readonly pins: Map<string, PinRecord>;
  /** ICCID of the card that each modem had last, by IMEI. */
  readonly cards: Map<string, string>;
}

/** The state, read-only. */
export interface ReadonlyJournalState {
  readonly journalId: string;
  readonly nextSequence: number;
  readonly acknowledged: number;
  readonly facts: ReadonlyMap<number, Fact>;
  readonly commands: ReadonlyCommandMap;
  readonly entries: ReadonlyMap<string, EntryState>;
  readonly groups: ReadonlyMap<string, PartGroup>;
  readonly pins: ReadonlyMap<string, PinRecord>;
  readonly cards: ReadonlyMap<string, string>;
}

/** The state of a journal without records. */
export function emptyState(journalId: string): JournalState {
  return {
    journalId,
    nextSequence: 1,
    acknowledged: 0,
    facts: new Map(),
    commands: new CommandMap(),
    entries: new Map(),
    groups: new Map(),
    pins: new Map(),
    cards: new Map(),
  };
}

/** The holder of a storage: a SIM card or a modem. */
export const holderOf = ({ device, iccid }: Pick<StorageEntry, 'iccid' | 'device'>): string =>
  device ?? iccid;

/** The place of an entry; two messages cannot be there at once. */
export function entryKey(entry: Pick<StorageEntry, 'iccid' | 'device' | 'storage' | 'index'>): string {
  return `${holderOf(entry)}/${entry.storage}/${entry.index}`;
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
    case 'segment':
    case 'withdrawn':
    case 'doubt':
    case 'outcome':
      applyCommandRecord(state.commands, record);
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
    case 'synced':
      // Describes the file, not its contents.
      break;
    case 'pin':
      if (record.result === 'clear') state.pins.delete(record.digest);
      else state.pins.set(record.digest, record);
      break;
    case 'card':
      setBounded(state.cards, record.device, record.iccid, CARDS_MAX);
      break;
  }
}

/**
 * The records that produce this state as it is now: the contents of a compacted journal. Changes while the records are read do not show in
 * them.
 */
export function snapshotOf(state: JournalState): Iterable<JournalRecord> {
  const { journalId, nextSequence, acknowledged } = state;
  // Facts are re-applied, so that the head starts where the oldest kept one does.
  const head = nextSequence - state.facts.size;
  const first: JournalRecord = {
    kind: 'journal',
    format: JOURNAL_FORMAT,
    journalId,
    nextSequence: head,
    acknowledged,
  };
  // The values are never changed, only replaced: copies of the maps are a few milliseconds of work.
  const copy = {
    commandIds: [...state.commands.keys()],
    commands: [...state.commands.values()],
    facts: [...state.facts],
    groups: [...state.groups],
    entries: [...state.entries.values()],
    pins: [...state.pins.values()],
    cards: [...state.cards],
  };
  return recordsOf(first, copy);
}

interface StateCopy {
  readonly commandIds: readonly string[];
  /** One for each id. */
  readonly commands: readonly CommandState[];
  readonly facts: readonly [number, Fact][];
  readonly groups: readonly [string, PartGroup][];
  readonly entries: readonly EntryState[];
  readonly pins: readonly PinRecord[];
  readonly cards: readonly (readonly [device: string, iccid: string])[];
}

function* recordsOf(first: JournalRecord, copy: StateCopy): Generator<JournalRecord> {
  yield first;
  for (const [index, command] of copy.commands.entries()) {
    yield* commandRecords(copy.commandIds[index] ?? '', command);
  }
  for (const [sequence, fact] of copy.facts) yield { kind: 'fact', sequence, fact };
  for (const [group, { iccid, parts }] of copy.groups) {
    for (const part of parts) yield { kind: 'part', group, iccid, part };
  }
  for (const { entry, deleted } of copy.entries) {
    yield { kind: 'read', entry };
    if (deleted) yield { kind: 'deleted', entry };
  }
  yield* copy.pins;
  for (const [device, iccid] of copy.cards) yield { kind: 'card', device, iccid };
}

/** Forgets outcomes whose time is over, oldest first. `now` in milliseconds since the epoch. */
export function dropOldOutcomes(state: JournalState, now: number): void {
  for (const [commandId, { outcome }] of state.commands) {
    if (outcome === undefined) continue;
    // Those behind it are about as young.
    if (Date.parse(outcome.at) >= now - OUTCOME_KEPT_MS) return;
    state.commands.delete(commandId);
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
  if (fact.kind === 'sms_outcome') applyOutcome(state.commands, fact);
  if (fact.kind === 'sms_report') applyReport(state.commands, fact);
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

function setEntry(state: JournalState, entry: StorageEntry | undefined): void {
  if (entry === undefined) return;
  setBounded(state.entries, entryKey(entry), { entry, deleted: false }, ENTRIES_MAX);
}

/** Puts a value last in line: the oldest are forgotten first. */
function setBounded<T>(map: Map<string, T>, key: string, value: T, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= sizeMax) return;
  const [oldest = ''] = map.keys();
  map.delete(oldest);
}

/** Settles an entry unless its place has been taken by another message since. */
function settleEntry(state: JournalState, entry: StorageEntry, settle: (key: string) => void): void {
  const key = entryKey(entry);
  if (state.entries.get(key)?.entry.digest === entry.digest) settle(key);
}
