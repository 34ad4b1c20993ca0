// Deletions of messages that the journal has: which are due, and which the modem has confirmed.
import { atCommand } from '../../at/command.ts';
import type { Journal } from '../../journal/journal.ts';
import { entryKey } from '../../journal/journal-state.ts';
import type { StorageEntry } from '../../journal/record.ts';
import { STORAGE_TIMEOUT_MS, type StorageAccess } from './storage-access.ts';

/** The parts that deletions use. */
interface SmsDeletionsParts {
  readonly journal: Journal;
  readonly access: StorageAccess;
  /** Resolves when the SIM is still this one: the messages to delete are its own. */
  readonly confirmSim: () => Promise<void>;
}

/** Whether the journal has the message of an entry, and whether the modem has deleted it. */
type DeletionState = 'unknown' | 'accepted' | 'deleted';

/** Deletions on one modem, for one SIM. */
export class SmsDeletions {
  readonly #parts: SmsDeletionsParts;
  /** By `entryKey`: places that held, at their last reading, a message that may be deleted. */
  readonly #due = new Map<string, StorageEntry>();
  /** By `entryKey`: digests of entries whose deletion the modem confirmed, until the journal has it. */
  readonly #confirmed = new Map<string, string>();

  constructor(parts: SmsDeletionsParts) {
    this.#parts = parts;
  }

  get waiting(): number {
    return this.#due.size;
  }

  /** The journal has the message in this place: it may be deleted. */
  add(entry: StorageEntry): void {
    this.#due.set(entryKey(entry), entry);
  }

  /** The place is being read again: that reading decides. */
  forget(entry: StorageEntry): void {
    this.#due.delete(entryKey(entry));
  }

  clear(): void {
    this.#due.clear();
  }

  /** Another message, or the same one again, lies in the place of a deleted one. */
  reused(entry: StorageEntry): void {
    this.#confirmed.delete(entryKey(entry));
  }

  stateOf(entry: StorageEntry): DeletionState {
    const key = entryKey(entry);
    const known = this.#parts.journal.state.entries.get(key);
    if (known?.entry.digest !== entry.digest) return 'unknown';
    return known.deleted || this.#confirmed.get(key) === entry.digest ? 'deleted' : 'accepted';
  }

  /** The next deletion; `undefined` if none is due. */
  next(): (() => Promise<void>) | undefined {
    const [entry] = this.#due.values();
    if (entry === undefined) return undefined;
    this.forget(entry);
    return () => this.#delete(entry);
  }

  /** One deletion for one message: by now the place may hold the next one. */
  async #delete(entry: StorageEntry): Promise<void> {
    const { access, confirmSim, journal } = this.#parts;
    const key = entryKey(entry);
    const known = journal.state.entries.get(key);
    if (known?.entry.digest !== entry.digest || known.deleted || this.#confirmed.has(key)) return;
    await confirmSim();
    const command = atCommand(`AT+CMGD=${entry.index}`, { timeoutMs: STORAGE_TIMEOUT_MS });
    await access.send(entry.storage, command);
    this.#confirmed.set(key, entry.digest);
    void journal.appendLazily({ kind: 'deleted', entry }).durable.then(
      () => {
        if (this.#confirmed.get(key) === entry.digest) this.#confirmed.delete(key);
      },
      // The journal does not have it, and it is still true.
      () => undefined,
    );
  }
}
