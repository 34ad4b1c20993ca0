// How far facts of a journal can have been sent, over all links: a control plane that knows more knows another copy of it.
import type { Journal } from '../journal/journal.ts';

export class SentFacts {
  readonly #journal: Pick<Journal, 'state'>;
  #journalId: string;
  #highest: number;

  /** To be made before the first link: an earlier process can have sent any fact in the journal. */
  constructor(journal: Pick<Journal, 'state'>) {
    const { journalId, nextSequence } = journal.state;
    this.#journal = journal;
    this.#journalId = journalId;
    this.#highest = nextSequence - 1;
  }

  /** Highest sequence that can have been sent; 0 of a journal whose identity is new. */
  get highest(): number {
    return this.#journalId === this.#journal.state.journalId ? this.#highest : 0;
  }

  note(sequence: number): void {
    this.#highest = Math.max(this.highest, sequence);
    this.#journalId = this.#journal.state.journalId;
  }
}
