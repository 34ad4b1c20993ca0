// The state of the journal: facts to send, commands and their outcomes, entries to delete, parts that wait. Pure: the records, applied in
// order, determine the state.
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
  type VoiceSettingsRecord,
} from './record.ts';

/** For this long, a repeated command id is answered with its outcome. */
export const OUTCOME_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/**
 * Maximum number of entries to remember until they are deleted. A rack has a tenth of that. The rest belongs to SIMs that
 * were removed, and the oldest are forgotten first.
 */
export const ENTRIES_MAX = 50_000;
/** More modems than a daemon serves in years. */
const CARDS_MAX = 1_024;

/** An entry that was read and may still be on the modem. */
interface EntryState {
  readonly entry: StorageEntry;
  /** Whether the modem reported that it deleted the entry. */
  readonly deleted: boolean;
}

/** Parts of one message that wait for the other parts. */
export interface PartGroup {
  readonly iccid: string;
  readonly parts: readonly PartRecord[];
}

/** The state that results from the records of a journal. */
export interface JournalState {
  journalId: string;
  nextSequence: number;
  /** Highest acknowledged sequence number. */
  acknowledged: number;
  /** Unacknowledged facts by sequence number, in order and without gaps. */
  readonly facts: Map<number, Fact>;
  readonly commands: CommandMap;
  /** Entries that were read and may still exist, by `entryKey`. */
  readonly entries: Map<string, EntryState>;
  /** Waiting parts by the key of their group. */
  readonly groups: Map<string, PartGroup>;
  /** PINs that were refused or may have been, by digest. There are few: a person configured each of them. */
  readonly pins: Map<string, PinRecord>;
  /** ICCID of the last card of each modem, by IMEI. */
  readonly cards: Map<string, string>;
  /** The settings that each modem was sent for its last card, by IMEI. */
  readonly voiceSettings: Map<string, VoiceSettingsRecord>;
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
  readonly voiceSettings: ReadonlyMap<string, VoiceSettingsRecord>;
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
    voiceSettings: new Map(),
  };
}

/** Returns the owner of a storage: a SIM card or a modem. */
export const holderOf = ({ device, iccid }: Pick<StorageEntry, 'iccid' | 'device'>): string =>
  device ?? iccid;

/** Returns the key of an entry's place, which can contain one message at a time. */
export function entryKey(entry: Pick<StorageEntry, 'iccid' | 'device' | 'storage' | 'index'>): string {
  return `${holderOf(entry)}/${entry.storage}/${entry.index}`;
}

/** Applies one record to the state. */
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
      changeEntry(state, record.entry, (key) =>
        state.entries.set(key, { entry: record.entry, deleted: true }),
      );
      break;
    case 'gone':
      changeEntry(state, record.entry, (key) => state.entries.delete(key));
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
    case 'voiceSettings':
      setBounded(state.voiceSettings, record.device, record, CARDS_MAX);
      break;
  }
}

/**
 * Returns the records that produce the current state: the contents of a compacted journal. Later changes of the state do not affect
 * them.
 */
export function snapshotOf(state: JournalState): Iterable<JournalRecord> {
  const { journalId, nextSequence, acknowledged } = state;
  // The facts follow as records, so the numbering starts at the oldest one.
  const head = nextSequence - state.facts.size;
  const first: JournalRecord = {
    kind: 'journal',
    format: JOURNAL_FORMAT,
    journalId,
    nextSequence: head,
    acknowledged,
  };
  // Values are never changed, only replaced, so it is enough to copy the maps, which takes a few milliseconds.
  const copy = {
    commandIds: [...state.commands.keys()],
    commands: [...state.commands.values()],
    facts: [...state.facts],
    groups: [...state.groups],
    entries: [...state.entries.values()],
    pins: [...state.pins.values()],
    cards: [...state.cards],
    voiceSettings: [...state.voiceSettings.values()],
  };
  return recordsOf(first, copy);
}

interface StateCopy {
  readonly commandIds: readonly string[];
  /** Yields one record for each id. */
  readonly commands: readonly CommandState[];
  readonly facts: readonly [number, Fact][];
  readonly groups: readonly [string, PartGroup][];
  readonly entries: readonly EntryState[];
  readonly pins: readonly PinRecord[];
  readonly cards: readonly (readonly [device: string, iccid: string])[];
  readonly voiceSettings: readonly VoiceSettingsRecord[];
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
  yield* copy.voiceSettings;
}

/** Forgets outcomes whose time is over, oldest first. `now` in milliseconds since the epoch. */
export function dropOldOutcomes(state: JournalState, now: number): void {
  for (const [commandId, { outcome }] of state.commands) {
    if (outcome === undefined) continue;
    // All later ones are as young.
    if (Date.parse(outcome.at) >= now - OUTCOME_KEPT_MS) return;
    state.commands.delete(commandId);
  }
}

/** Gives the journal a new identity. Its facts are numbered from 1 again, and none of them is acknowledged. */
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

/** Removes the facts up to `sequence`. An acknowledgement is never taken back. */
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

/** Moves a value to the end: the oldest are forgotten first. */
function setBounded<T>(map: Map<string, T>, key: string, value: T, sizeMax: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= sizeMax) return;
  const [oldest = ''] = map.keys();
  map.delete(oldest);
}

/** Changes an entry, unless another message has taken its place since. */
function changeEntry(state: JournalState, entry: StorageEntry, change: (key: string) => void): void {
  const key = entryKey(entry);
  if (state.entries.get(key)?.entry.digest === entry.digest) change(key);
}
