// Deletes messages that are in the journal: tracks which deletions are due and which the modem has confirmed.
import { atCommand } from '../../at/command.ts';
import type { Journal } from '../../journal/journal.ts';
import { entryKey } from '../../journal/journal-state.ts';
import type { StorageEntry } from '../../journal/record.ts';
import { STORAGE_TIMEOUT_MS, type StorageAccess } from './storage/storage-access.ts';

/** The parts that deletions use. */
interface SmsDeletionsParts {
  readonly journal: Journal;
  readonly access: StorageAccess;
  /** Resolves if the SIM is still this one, so that the messages to delete belong to it. */
  readonly confirmSim: () => Promise<void>;
}

/** Whether the message of an entry is in the journal, and whether the modem has deleted it. */
type DeletionState = 'unknown' | 'recorded' | 'deleted';

/** The deletions on one modem, for one SIM. */
export class SmsDeletions {
  readonly #parts: SmsDeletionsParts;
  /** Places, by `entryKey`, that at their last reading contained a message to delete. */
  readonly #due = new Map<string, StorageEntry>();
  /** Digests of entries, by `entryKey`, whose confirmed deletion is not in the journal yet. */
  readonly #confirmed = new Map<string, string>();

  constructor(parts: SmsDeletionsParts) {
    this.#parts = parts;
  }

  get waiting(): number {
    return this.#due.size;
  }

  /** Call it when the journal has the message in this place, so that it may be deleted. */
  add(entry: StorageEntry): void {
    this.#due.set(entryKey(entry), entry);
  }

  /** Call it when the place is being read again. That reading decides. */
  forget(entry: StorageEntry): void {
    this.#due.delete(entryKey(entry));
  }

  clear(): void {
    this.#due.clear();
  }

  /** Call it when the place of a deleted message contains another message, or the same one again. */
  reused(entry: StorageEntry): void {
    this.#confirmed.delete(entryKey(entry));
  }

  stateOf(entry: StorageEntry): DeletionState {
    const key = entryKey(entry);
    const known = this.#parts.journal.state.entries.get(key);
    if (known?.entry.digest !== entry.digest) return 'unknown';
    return known.deleted || this.#confirmed.get(key) === entry.digest ? 'deleted' : 'recorded';
  }

  /** Returns the next deletion; `undefined` if none is due. */
  next(): (() => Promise<void>) | undefined {
    const [entry] = this.#due.values();
    if (entry === undefined) return undefined;
    this.forget(entry);
    return () => this.#delete(entry);
  }

  /** Deletes once for each message, because afterwards the place may contain the next one. */
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
      // The journal does not have the confirmation, but the message is deleted.
      () => undefined,
    );
  }
}
