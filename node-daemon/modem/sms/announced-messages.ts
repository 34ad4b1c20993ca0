// The announced messages that wait to be read, in the order of their announcements.
import type { Announced } from './storage/sms-storage.ts';

/** Most messages that wait. A sweep finds the others. */
const WAITING_MAX = 512;
/** From this number on, the messages of one storage are read with one command. */
const LIST_FROM = 4;

/** The announced messages of one inbox. */
export class AnnouncedMessages {
  readonly #waiting: Announced[] = [];

  get first(): Announced | undefined {
    return this.#waiting[0];
  }

  /** Returns false if too many wait. */
  add(announced: Announced): boolean {
    if (this.#waiting.length >= WAITING_MAX) return false;
    this.#waiting.push(announced);
    return true;
  }

  removeFirst(): void {
    this.#waiting.shift();
  }

  clear(): void {
    this.#waiting.length = 0;
  }

  /** Whether enough messages of a storage wait that listing it is faster. */
  areManyIn(storage: string): boolean {
    return this.in(storage).length >= LIST_FROM;
  }

  in(storage: string): readonly Announced[] {
    return this.#waiting.filter((each) => each.storage === storage);
  }

  /**
   * Removes messages that waited before their storage was listed. Returns the announced places of the storage in order: a message that was
   * announced meanwhile may be missing from the list, so it also keeps its place among those that wait.
   */
  listed(storage: string, announced: readonly Announced[]): number[] {
    const rest = this.#waiting.filter((each) => !announced.includes(each));
    this.#waiting.splice(0, this.#waiting.length, ...rest);
    return [...announced, ...this.in(storage)].map(({ index }) => index);
  }
}
