// The numbered slots that a modem keeps messages in. Every change is in the journal before it counts.
import { MEMORIES, type Memory } from '../at/settings.ts';
import type { RackJournal } from '../state/rack-journal.ts';
import { storeOf } from '../state/rack-state.ts';
import type { RackRecord, StoredMessage } from '../state/records.ts';

/** Slots of each memory. */
export type Capacities = Record<Memory, number>;

/** A common SIM, the memory of a Quectel modem, a handful of reports. */
export const USUAL_CAPACITIES: Capacities = { SM: 50, ME: 255, SR: 20 };

const NO_MESSAGES: ReadonlyMap<number, StoredMessage> = new Map();

interface MessageStoresOptions {
  journal: RackJournal;
  imei: string;
  /** ICCID of the card that holds the memory SM. */
  sim: () => string | undefined;
  capacities: () => Capacities;
}

/** The stores of one modem and of the card in it, a view of the journal. */
export class MessageStores {
  readonly #options: MessageStoresOptions;

  constructor(options: MessageStoresOptions) {
    this.#options = options;
  }

  capacity(memory: Memory): number {
    return this.#holder(memory) === undefined ? 0 : this.#options.capacities()[memory];
  }

  used(memory: Memory): number {
    return this.#slots(memory).size;
  }

  /** Use of all memories. */
  usage(): Record<Memory, { used: number; total: number }> {
    const entries = MEMORIES.map((memory) => [
      memory,
      { used: this.used(memory), total: this.capacity(memory) },
    ]);
    return Object.fromEntries(entries) as Record<Memory, { used: number; total: number }>;
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
    const capacity = this.capacity(memory);
    for (let index = 1; index <= capacity; index++) if (!slots.has(index)) return index;
    return undefined;
  }

  /**
   * Stores a message, in one journal line with the records of `also`. Throws `JournalError`, as the other changes
   * do.
   */
  put(memory: Memory, index: number, message: StoredMessage, also: readonly RackRecord[] = []): void {
    const holder = this.#holder(memory);
    if (holder === undefined) throw new Error(`there is no memory ${memory}`);
    this.#options.journal.commit([{ kind: 'stored', holder, memory, index, message }, ...also]);
  }

  /** Marks as read or as sent. */
  setStatus(memory: Memory, indexes: readonly number[], status: number): void {
    const holder = this.#holder(memory);
    if (indexes.length === 0 || holder === undefined) return;
    this.#options.journal.commit(indexes.map((index) => ({ kind: 'status', holder, memory, index, status })));
  }

  remove(memory: Memory, indexes: readonly number[]): void {
    const holder = this.#holder(memory);
    if (indexes.length === 0 || holder === undefined) return;
    this.#options.journal.commit(indexes.map((index) => ({ kind: 'deleted', holder, memory, index })));
  }

  #holder(memory: Memory): string | undefined {
    return memory === 'SM' ? this.#options.sim() : this.#options.imei;
  }

  #slots(memory: Memory): ReadonlyMap<number, StoredMessage> {
    const holder = this.#holder(memory);
    return holder === undefined ? NO_MESSAGES : storeOf(this.#options.journal.state, holder, memory);
  }
}
