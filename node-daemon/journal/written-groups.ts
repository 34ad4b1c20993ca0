// The waiting parts as they will be when all written records are durable. Decisions use them. Pure.
import type { PartGroup } from './journal-state.ts';
import type { JournalRecord, NewRecord } from './record.ts';

/** Groups of parts, for decisions. */
export interface ReadonlyGroups {
  get(group: string): PartGroup | undefined;
  /** An upper bound of the number of groups. */
  readonly size: number;
}

interface Change {
  /** `undefined` after the group was joined. */
  readonly group: PartGroup | undefined;
  /** Number of records that are not durable yet. */
  readonly records: number;
}

/** The groups of the durable records, with the changes of records that are written but not durable. */
export class WrittenGroups implements ReadonlyGroups {
  readonly #durable: ReadonlyMap<string, PartGroup>;
  readonly #changes = new Map<string, Change>();

  constructor(durable: ReadonlyMap<string, PartGroup>) {
    this.#durable = durable;
  }

  get(group: string): PartGroup | undefined {
    const change = this.#changes.get(group);
    return change === undefined ? this.#durable.get(group) : change.group;
  }

  get size(): number {
    return this.#durable.size + this.#changes.size;
  }

  /** Adds records that are about to be written. */
  note(records: readonly (NewRecord | JournalRecord)[]): void {
    for (const record of records) {
      const key = groupOf(record);
      if (key === undefined) continue;
      const parts = this.get(key)?.parts ?? [];
      const group =
        record.kind === 'part' ? { iccid: record.iccid, parts: [...parts, record.part] } : undefined;
      this.#changes.set(key, { group, records: (this.#changes.get(key)?.records ?? 0) + 1 });
    }
  }

  /** Call it when one of the records is durable and applied. */
  confirm(record: JournalRecord): void {
    const key = groupOf(record);
    const change = key === undefined ? undefined : this.#changes.get(key);
    if (key === undefined || change === undefined) return;
    if (change.records === 1) this.#changes.delete(key);
    else this.#changes.set(key, { ...change, records: change.records - 1 });
  }

  /** Discards the changes of records that are not durable. */
  forget(): void {
    this.#changes.clear();
  }
}

function groupOf(record: NewRecord | JournalRecord): string | undefined {
  return record.kind === 'part' || record.kind === 'fact' ? record.group : undefined;
}
