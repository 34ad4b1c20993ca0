// The records of the journal, and their form on disk, one per line: `<crc32, 8 hex digits> <json>\n`.
import { crc32 } from 'node:zlib';
import { type Fact, factSchema, type SmsOutcome } from '#shared/link/messages.ts';

/** Raise it when older programs cannot read the records of newer ones. */
export const JOURNAL_FORMAT = 1;

/** A place in a message storage and its content, as a keyed SHA-256 of the whole PDU (`JournalKey`). */
export interface StorageEntry {
  /** The card that was in the modem. */
  readonly iccid: string;
  /** IMEI of the modem, if the storage belongs to it. Messages there stay when the card is removed. */
  readonly device?: string;
  readonly storage: string;
  readonly index: number;
  readonly digest: string;
}

/** A part of a concatenated message. */
export interface PartRecord {
  readonly from: string;
  /** For a WAP push, its octets in hexadecimal. */
  readonly text: string;
  /** Received PDU of a WAP push; absent for a text. */
  readonly pdu?: string;
  readonly sentAt: string | null;
  readonly receivedAt: string;
  /** It reached the modem after this time; absent if unknown. */
  readonly arrivedAfter?: string;
  readonly reference: number;
  readonly referenceBits: 8 | 16;
  readonly total: number;
  readonly part: number;
}

/**
 * The state of a PIN. `trying`: about to be entered. `refused`: refused by the card. `clear`: the card accepted it or never saw
 * it.
 */
export interface PinRecord {
  readonly kind: 'pin';
  /** The SIM card: its ICCID, if it reports one. */
  readonly card: string;
  /** SHA-256 of the card and the PIN. */
  readonly digest: string;
  readonly result: 'trying' | 'clear' | 'refused';
  /** Attempts left before this one; null if the modem does not report them. */
  readonly triesLeft: number | null;
}

/** The SIM card in a modem, after the older messages in the modem's own storages are handled. */
interface CardRecord {
  readonly kind: 'card';
  /** IMEI. */
  readonly device: string;
  readonly iccid: string;
}

/** The settings for calls that a modem was sent for one card, so that none is sent twice and the modem is restarted once. */
export interface VoiceSettingsRecord {
  readonly kind: 'voiceSettings';
  /** IMEI. */
  readonly device: string;
  /** SHA-256 of the card and of what its network needs. */
  readonly digest: string;
  readonly at: string;
  /** Times that the commands were begun since they last ended. */
  readonly attempts: number;
  /** Commands that the modem answered. */
  readonly sent: readonly string[];
  /** It must be restarted for what was sent, and was not yet. */
  readonly awaitsRestart: boolean;
  /** It was restarted, or is at this moment. */
  readonly restarted: boolean;
}

/** A record to append. The journal assigns the sequence number when it writes the record. */
export type NewRecord =
  /** A fact. On disk it also has its sequence number. */
  | {
      readonly kind: 'fact';
      readonly fact: Fact;
      /** Storage entry of the fact, which may now be deleted. */
      readonly entry?: StorageEntry;
      /** Group of parts that the fact combines. */
      readonly group?: string;
    }
  /** A part of a long message that waits for the others of its group. */
  | {
      readonly kind: 'part';
      readonly group: string;
      readonly iccid: string;
      readonly part: PartRecord;
      readonly entry?: StorageEntry;
    }
  /** A storage entry that was read and needs no fact of its own: a repeated part, or a failed deletion. */
  | { readonly kind: 'read'; readonly entry: StorageEntry }
  /** The modem reported that it deleted the entry. */
  | { readonly kind: 'deleted'; readonly entry: StorageEntry }
  /** The modem no longer lists the entry. */
  | { readonly kind: 'gone'; readonly entry: StorageEntry }
  /** From here on the modem may get a command. The outcome is a fact `sms_outcome`. */
  | {
      readonly kind: 'intent';
      readonly commandId: string;
      readonly iccid: string;
      readonly to: string;
      readonly at: string;
      /** Number of segments; 1 if absent. */
      readonly segments?: number;
      /** Digest of the text, if the command may be repeated. */
      readonly digest?: string;
    }
  /** The network accepted one of several segments: its TP-Message-Reference. */
  | { readonly kind: 'segment'; readonly commandId: string; readonly reference: number }
  /** The command never reached the modem. It may come again. */
  | { readonly kind: 'withdrawn'; readonly commandId: string }
  | CardRecord
  | VoiceSettingsRecord
  | PinRecord;

/** A record on disk. */
export type JournalRecord =
  /** The first record: the identity of the journal. */
  | {
      readonly kind: 'journal';
      readonly format: number;
      readonly journalId: string;
      readonly nextSequence: number;
      readonly acknowledged: number;
    }
  | (Extract<NewRecord, { kind: 'fact' }> & { readonly sequence: number })
  | (Extract<NewRecord, { kind: 'intent' }> & {
      /** Boot of the system in which it was written; absent once a later record is lost. */
      readonly boot?: string;
    })
  | Exclude<NewRecord, { kind: 'fact' | 'intent' }>
  /** Number of bytes of the file that were durable before this write. The first line of each write. */
  | { readonly kind: 'synced'; readonly bytes: number }
  /** Records after this place were lost: each earlier command without an outcome may have reached a modem. */
  | { readonly kind: 'doubt' }
  /** The control plane has committed all facts up to this sequence number. */
  | { readonly kind: 'ack'; readonly sequence: number }
  /** A command and its outcome, after its fact was acknowledged. Compaction writes it. */
  | {
      readonly kind: 'outcome';
      readonly commandId: string;
      readonly iccid: string;
      readonly to: string;
      readonly outcome: SmsOutcome;
      /** When its intent was written; if absent, the time of the outcome. */
      readonly at?: string;
      /** Number of segments; 1 if absent. */
      readonly segments?: number;
      /** References of the accepted segments, if the outcome does not have them. */
      readonly references?: readonly number[];
      /** Segments whose last report arrived. */
      readonly reported?: readonly number[];
      readonly digest?: string;
    };

/** Returns true for records that need room until the control plane acknowledges them. Outcomes use the room of their intents. */
export function isGrowth(record: NewRecord | JournalRecord): boolean {
  if (record.kind === 'fact') return record.fact.kind !== 'sms_outcome';
  return record.kind === 'part' || record.kind === 'intent';
}

/** The link cannot carry this fact. In the journal it would hold up every later one. */
export class InvalidFactError extends Error {
  override name = 'InvalidFactError';
}

/** Returns the records. Throws `InvalidFactError`, which names the fields and not their values. */
export function checkFacts<R extends NewRecord | Extract<JournalRecord, { kind: 'ack' }>>(
  records: readonly R[],
): readonly R[] {
  for (const record of records) {
    if (record.kind !== 'fact') continue;
    const { error } = factSchema.safeParse(record.fact);
    if (error === undefined) continue;
    const fields = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw new InvalidFactError(
      `a fact ${record.fact.kind} that the link does not carry: ${fields.join('; ')}`,
    );
  }
  return records;
}

/** Returns the line of a record. */
export function encodeRecord(record: JournalRecord): string {
  const json = JSON.stringify(record);
  return `${checksum(json)} ${json}\n`;
}

/** Returns the record of a line without its line end; `undefined` if the line is damaged. */
export function decodeRecord(line: string): JournalRecord | undefined {
  const json = line.slice(9);
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(json)) return undefined;
  return JSON.parse(json) as JournalRecord;
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
