// The requests that an operator can make to the modems of a host: through the running daemon, or without one.
import type { Slot, SmsOutcome } from '#shared/link/messages.ts';
import type { DeskCall, DeskInput } from './desk-inputs.ts';

/** The answer of a modem to a command line. */
export interface AtAnswer {
  /** Information responses, as the modem gave them. */
  readonly lines: readonly string[];
  /** Final result code: "OK", "ERROR", "+CME ERROR: 30", "NO CARRIER" … */
  readonly final: string;
  readonly ok: boolean;
}

/** The answer of the network to a USSD code. */
export interface UssdAnswer {
  /** Null where the network sent no text. */
  readonly text: string | null;
  /** Whether the network waits for a reply. */
  readonly waits: boolean;
  /** The problem, where there is no answer. */
  readonly problem: string | null;
}

/** A message that lies in a storage of the modem or the card. */
export interface StoredSms {
  readonly storage: string;
  readonly index: number;
  readonly status: 'unread' | 'read' | 'unsent' | 'sent';
  readonly kind: 'message' | 'report' | 'unreadable';
  /** Sender, or recipient of the message that a report is about; null where it cannot be read. */
  readonly address: string | null;
  /** Time of the service center, ISO 8601. */
  readonly sent_at: string | null;
  /** The text; for a message without one, its kind. */
  readonly text: string;
  /** "2/3" of a long message. */
  readonly part: string | null;
}

/** Messages of one slot, wherever they are. */
export interface SlotMessages {
  readonly storages: ReadonlyArray<{ storage: string; used: number | null; total: number | null }>;
  readonly stored: readonly StoredSms[];
  /** In the journal, until the control plane has them. */
  readonly waiting: ReadonlyArray<{ from: string; received_at: string; text: string }>;
  /** Parts of long messages in the journal, until the others come. */
  readonly parts: ReadonlyArray<{ from: string; part: string; received_at: string; text: string }>;
}

/** A slot, and its events since the daemon began. */
export interface WatchedSlot extends Slot {
  /** Signal in dBm, oldest first; null where there was none. */
  readonly signals: readonly (number | null)[];
  readonly sms_received: number;
  readonly sms_sent: number;
  readonly sms_failed: number;
  /** Calls that are up. */
  readonly calls: number;
  readonly last_event: { readonly at: string; readonly text: string } | null;
}

/** All slots at one moment. */
export interface WatchedHost {
  readonly at: string;
  readonly is_linked: boolean | null;
  readonly alarms: readonly string[];
  readonly journal_depth: number;
  readonly slots: readonly WatchedSlot[];
}

/** The outcome of a message; `is_repeat`: its id was used before, and nothing was sent now. */
export type SendAnswer = SmsOutcome & { readonly is_repeat: boolean };

/** The answer of each call. */
export interface DeskAnswers {
  slots: Slot[];
  at: AtAnswer;
  send: SendAnswer;
  ussd: UssdAnswer;
  messages: SlotMessages;
}

/** The two streams, and their items: a line of the log, or the state of all slots now. */
export interface DeskStreams {
  logs: Record<string, unknown>;
  watch: WatchedHost;
}

/** An operator's access to the modems of a host. Rejects with `DeskError`. */
export interface NodeDesk {
  /** False: it has the modems itself, for as long as it is open. */
  readonly isRunningDaemon: boolean;
  /** `signal`: the caller does not wait for the answer any more. */
  ask<C extends DeskCall>(call: C, input: DeskInput<C>, signal?: AbortSignal): Promise<DeskAnswers[C]>;
  /** Ends with the signal; throws when the daemon goes away. */
  follow<S extends keyof DeskStreams>(
    stream: S,
    options: { signal: AbortSignal; isFollowed?: boolean },
  ): AsyncIterable<DeskStreams[S]>;
  /** Gives the modems back where it has them. */
  close(): Promise<void>;
}
