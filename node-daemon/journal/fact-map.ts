// The facts that wait for the control plane, counted by SIM. Pure.
import type { Fact } from '#shared/link/messages.ts';

/** Facts, read-only. */
export type ReadonlyFactMap = ReadonlyMap<number, Fact> & Pick<FactMap, 'countOf'>;

/** Unacknowledged facts by sequence number, in order and without gaps. */
export class FactMap extends Map<number, Fact> {
  readonly #counts = new Map<string, number>();

  /** Returns how many facts of a SIM wait. */
  countOf(iccid: string): number {
    return this.#counts.get(iccid) ?? 0;
  }

  override set(sequence: number, fact: Fact): this {
    this.#count(this.get(sequence), -1);
    this.#count(fact, 1);
    return super.set(sequence, fact);
  }

  override delete(sequence: number): boolean {
    this.#count(this.get(sequence), -1);
    return super.delete(sequence);
  }

  override clear(): void {
    this.#counts.clear();
    super.clear();
  }

  #count(fact: Fact | undefined, change: number): void {
    if (fact === undefined || !('iccid' in fact)) return;
    const count = this.countOf(fact.iccid) + change;
    if (count === 0) this.#counts.delete(fact.iccid);
    else this.#counts.set(fact.iccid, count);
  }
}
