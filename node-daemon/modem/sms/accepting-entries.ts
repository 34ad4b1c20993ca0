// Storage entries whose journal records are being written. They outlive the session, because the next session reads them again.
import type { Journal } from '../../journal/journal.ts';
import { entryKey } from '../../journal/journal-state.ts';
import type { StorageEntry } from '../../journal/record.ts';

const byJournal = new WeakMap<Journal, AcceptingEntries>();

/** The entries of one journal, by place and digest. */
export class AcceptingEntries {
  readonly #accepting = new Map<string, Promise<void>>();

  /** Returns the shared object of all inboxes that write to this journal. */
  static of(journal: Journal): AcceptingEntries {
    const entries = byJournal.get(journal) ?? new AcceptingEntries();
    byJournal.set(journal, entries);
    return entries;
  }

  /** Accepts the entry. If it is already being accepted, both calls share one result. */
  once(entry: StorageEntry, accept: () => Promise<void>): Promise<void> {
    const key = `${entryKey(entry)}/${entry.digest}`;
    const known = this.#accepting.get(key);
    if (known !== undefined) return known;
    const accepted = accept().finally(() => this.#accepting.delete(key));
    this.#accepting.set(key, accepted);
    return accepted;
  }
}
