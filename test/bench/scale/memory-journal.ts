// A journal without a disk: the service is measured, not the disks of a thousand hosts.
import { randomUUID } from 'node:crypto';
import { applyAcknowledgement, emptyState, renumber } from '#node-daemon/journal/journal-state.ts';
import type { Fact } from '#shared/link/messages.ts';

export class MemoryJournal {
  readonly state = emptyState(randomUUID());
  /** Facts that the service has acknowledged since the start. */
  acknowledged = 0;
  onAcknowledged: () => void = () => undefined;
  #onFact: () => void = () => undefined;

  onFact(handler: () => void): void {
    this.#onFact = handler;
  }

  add(fact: Fact): void {
    const { state } = this;
    state.facts.set(state.nextSequence, fact);
    state.nextSequence += 1;
    this.#onFact();
  }

  acknowledge(sequence: number): void {
    const before = this.state.acknowledged;
    applyAcknowledgement(this.state, sequence);
    this.acknowledged += this.state.acknowledged - before;
    this.onAcknowledged();
  }

  async renew(): Promise<void> {
    renumber(this.state, randomUUID());
  }
}
