// The highest fact of a journal that any link can have sent. A control plane that has acknowledged more has seen another copy.
import type { Journal } from '../journal/journal.ts';

export class SentFacts {
  readonly #journal: Pick<Journal, 'state'>;
  #journalId: string;
  #highest: number;

  /** Create it before the first link, because an earlier process can have sent any fact in the journal. */
  constructor(journal: Pick<Journal, 'state'>) {
    const { journalId, nextSequence } = journal.state;
    this.#journal = journal;
    this.#journalId = journalId;
    this.#highest = nextSequence - 1;
  }

  /** Highest sequence number that can have been sent; 0 for a journal with a new identity. */
  get highest(): number {
    return this.#journalId === this.#journal.state.journalId ? this.#highest : 0;
  }

  note(sequence: number): void {
    this.#highest = Math.max(this.highest, sequence);
    this.#journalId = this.#journal.state.journalId;
  }
}
