// The records of the journal, and their form on disk: `<crc32, 8 hex digits> <json>\n`, one a line.
import { crc32 } from 'node:zlib';
import type { Fact, SmsOutcome } from '#shared/link/messages.ts';

/** Raised when older programs could not read what newer ones write. */
export const JOURNAL_FORMAT = 1;

/** A place in a SIM's or modem's message storage and what lay there: SHA-256 of the whole PDU, keyed (`JournalKey`). */
export interface StorageEntry {
  /** The card that was in the modem. */
  readonly iccid: string;
  /** The modem, by IMEI, where the storage is its own: what lies there stays when the card goes. */
  readonly device?: string;
  readonly storage: string;
  readonly index: number;
  readonly digest: string;
}

/** A part of a concatenated message, as the journal keeps it. */
export interface PartRecord {
  readonly from: string;
  readonly text: string;
  readonly sentAt: string | null;
  readonly receivedAt: string;
  /** It reached the modem later than this; absent where that is not known. */
  readonly arrivedAfter?: string;
  readonly reference: number;
  readonly referenceBits: 8 | 16;
  readonly total: number;
  readonly part: number;
}

/**
 * A PIN is about to be entered (`trying`), or what became of it: it was `refused`, or it is `clear`, for the
 * card took it or did not see it. Without a result it may be wrong.
 */
export interface PinRecord {
  readonly kind: 'pin';
  /** The card, by ICCID where it tells one. */
  readonly card: string;
  /** SHA-256 of card and PIN. */
  readonly digest: string;
  readonly result: 'trying' | 'clear' | 'refused';
  /** Tries that the modem told before this one; null where it does not tell. */
  readonly triesLeft: number | null;
}

/** The card in a modem, once all that lay in the modem's own storages before it was settled. */
export interface CardRecord {
  readonly kind: 'card';
  /** IMEI. */
  readonly device: string;
  readonly iccid: string;
}

/** Who appends leaves the sequence out: the journal gives it when it writes. */
export type NewRecord =
  | {
      readonly kind: 'fact';
      readonly fact: Fact;
      /** Where the fact came from: that entry may be deleted now. */
      readonly entry?: StorageEntry;
      /** The group of parts that the fact joins: they are done with. */
      readonly group?: string;
    }
  /** A part that waits for the others of its group. */
  | {
      readonly kind: 'part';
      readonly group: string;
      readonly iccid: string;
      readonly part: PartRecord;
      readonly entry?: StorageEntry;
    }
  /** An entry that was read and needs no fact: a part that is there already, a failed deletion. */
  | { readonly kind: 'read'; readonly entry: StorageEntry }
  /** The modem says that it has deleted the entry. */
  | { readonly kind: 'deleted'; readonly entry: StorageEntry }
  /** The modem does not list the entry any more. */
  | { readonly kind: 'gone'; readonly entry: StorageEntry }
  /** A command may be given to the modem from here on. Its outcome is a fact `sms_outcome`. */
  | {
      readonly kind: 'intent';
      readonly commandId: string;
      readonly iccid: string;
      readonly to: string;
      readonly at: string;
      /** 1 where nothing is said. */
      readonly segments?: number;
      /** Of the text, where whoever gave the command may give it again. */
      readonly digest?: string;
    }
  /** The network took a segment of a command of several: its TP-Message-Reference. */
  | { readonly kind: 'segment'; readonly commandId: string; readonly reference: number }
  /** The command was never given to the modem and is forgotten: it may come again. */
  | { readonly kind: 'withdrawn'; readonly commandId: string }
  | CardRecord
  | PinRecord;

/** A record as it lies on disk. */
export type JournalRecord =
  /** The first record. */
  | {
      readonly kind: 'journal';
      readonly format: number;
      readonly journalId: string;
      readonly nextSequence: number;
      readonly acknowledged: number;
    }
  | (Extract<NewRecord, { kind: 'fact' }> & { readonly sequence: number })
  | (Extract<NewRecord, { kind: 'intent' }> & {
      /** The system's boot in which it was written; unknown for those of older programs. */
      readonly boot?: string;
    })
  | Exclude<NewRecord, { kind: 'fact' | 'intent' }>
  /** So much of the file was durable when this was written: the first line of each write. */
  | { readonly kind: 'synced'; readonly bytes: number }
  /**
   * What was written behind this place was taken back: of each command without outcome before it nobody can
   * tell whether a modem had it.
   */
  | { readonly kind: 'doubt' }
  /** Every fact up to this one is committed at the control plane. */
  | { readonly kind: 'ack'; readonly sequence: number }
  /** A command and its outcome, once the fact itself is acknowledged. Written by compaction. */
  | {
      readonly kind: 'outcome';
      readonly commandId: string;
      readonly iccid: string;
      readonly to: string;
      readonly outcome: SmsOutcome;
      /** When its intent was written; that of the outcome where nothing is said. */
      readonly at?: string;
      /** 1 where nothing is said. */
      readonly segments?: number;
      /** Of the segments that went out, where the outcome does not have them. */
      readonly references?: readonly number[];
      /** Parts whose last report came. */
      readonly reported?: readonly number[];
      readonly digest?: string;
    };

/** True for records that need room until the control plane acknowledges; outcomes were given room before. */
export function isGrowth(record: NewRecord | JournalRecord): boolean {
  if (record.kind === 'fact') return record.fact.kind !== 'sms_outcome';
  return record.kind === 'part' || record.kind === 'intent';
}

/** A record's line. */
export function encodeRecord(record: JournalRecord): string {
  const json = JSON.stringify(record);
  return `${checksum(json)} ${json}\n`;
}

/** The record of a line without its line end; `undefined` when the line is damaged. */
export function decodeRecord(line: string): JournalRecord | undefined {
  const json = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(json)) return undefined;
  return JSON.parse(json) as JournalRecord;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
