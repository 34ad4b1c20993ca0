// Entries on their way into the journal. They outlive the session that read them: the next one reads them again.
import type { Journal } from '../../journal/journal.ts';
import { entryKey } from '../../journal/journal-state.ts';
import type { StorageEntry } from '../../journal/record.ts';

const byJournal = new WeakMap<Journal, AcceptingEntries>();

/** Those of one journal, by place and digest. */
export class AcceptingEntries {
  readonly #accepting = new Map<string, Promise<void>>();

  /** The same for all inboxes that write to this journal. */
  static of(journal: Journal): AcceptingEntries {
    const entries = byJournal.get(journal) ?? new AcceptingEntries();
    byJournal.set(journal, entries);
    return entries;
  }

  /** Has the entry accepted, unless that is under way already: then both share one result. */
  once(entry: StorageEntry, accept: () => Promise<void>): Promise<void> {
    const key = `${entryKey(entry)}/${entry.digest}`;
    const known = this.#accepting.get(key);
    if (known !== undefined) return known;
    const accepted = accept().finally(() => this.#accepting.delete(key));
    this.#accepting.set(key, accepted);
    return accepted;
  }
}
