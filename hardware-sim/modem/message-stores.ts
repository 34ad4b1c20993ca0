// The numbered slots that a modem keeps messages in. Every change is in the journal before it counts.
import type { RackJournal } from '../state/rack-journal.ts';
import { memoriesOf, type RackRecord, type StoredMessage } from '../state/rack-state.ts';
import type { Memory } from './settings.ts';

/** Slots: a common SIM, the memory of a Quectel modem, a handful of reports. */
const CAPACITIES: Record<Memory, number> = { SM: 50, ME: 255, SR: 20 };

/** The stores of one modem, a view of the journal. */
export class MessageStores {
  readonly #journal: RackJournal;
  readonly #imei: string;

  constructor(journal: RackJournal, imei: string) {
    this.#journal = journal;
    this.#imei = imei;
  }

  capacity(memory: Memory): number {
    return CAPACITIES[memory];
  }

  used(memory: Memory): number {
    return this.#slots(memory).size;
  }

  get(memory: Memory, index: number): StoredMessage | undefined {
    return this.#slots(memory).get(index);
  }

  /** By index, ascending. */
  entries(memory: Memory): [index: number, message: StoredMessage][] {
    return [...this.#slots(memory)].sort(([left], [right]) => left - right);
  }

  /** Lowest free index, from 1. `undefined` when the store is full. */
  freeIndex(memory: Memory): number | undefined {
    const slots = this.#slots(memory);
    for (let index = 1; index <= CAPACITIES[memory]; index++) if (!slots.has(index)) return index;
    return undefined;
  }

  /** Throws `JournalError`, as the other changes do. `waitingId` takes the message from the carrier. */
  put(
    memory: Memory,
    index: number,
    message: StoredMessage,
    carrier?: { waitingId: number; also: readonly RackRecord[] },
  ): void {
    const record: RackRecord = { kind: 'stored', imei: this.#imei, memory, index, message };
    this.#journal.commit(
      carrier === undefined ? [record] : [{ ...record, waiting_id: carrier.waitingId }, ...carrier.also],
    );
  }

  /** Marks as read or as sent. */
  setStatus(memory: Memory, indexes: readonly number[], status: number): void {
    if (indexes.length === 0) return;
    const imei = this.#imei;
    this.#journal.commit(indexes.map((index) => ({ kind: 'status', imei, memory, index, status })));
  }

  remove(memory: Memory, indexes: readonly number[]): void {
    if (indexes.length === 0) return;
    const imei = this.#imei;
    this.#journal.commit(indexes.map((index) => ({ kind: 'deleted', imei, memory, index })));
  }

  #slots(memory: Memory): ReadonlyMap<number, StoredMessage> {
    return memoriesOf(this.#journal.state, this.#imei).stores[memory];
  }
}
