// Finds the owner of the messages in a modem's storages: the current SIM or the former one.
import type { Journal } from '../../../journal/journal.ts';
import type { StorageEntry } from '../../../journal/record.ts';
import { SIM_STORAGE } from './sms-storage.ts';

/** The parts that the search uses. */
interface StorageOwnerParts {
  readonly iccid: string;
  /** IMEI of the modem. A modem without one is not recognized later. */
  readonly device: string | undefined;
  readonly journal: Journal;
  readonly storages: readonly string[];
}

/** The SIM in a modem, and the former SIM as long as a storage of the modem may contain its messages. */
export class StorageOwner {
  readonly #parts: StorageOwnerParts;
  /** `undefined` if the modem had no other SIM. */
  readonly #formerIccid: string | undefined;
  /** Storages of the modem that may contain messages from before this SIM. */
  readonly #stranded: Set<string>;

  constructor(parts: StorageOwnerParts) {
    const { device, iccid, journal, storages } = parts;
    this.#parts = parts;
    const last = device === undefined ? undefined : journal.state.cards.get(device);
    this.#formerIccid = last === iccid ? undefined : last;
    this.#stranded = new Set(
      this.#formerIccid === undefined ? [] : storages.filter((storage) => storage !== SIM_STORAGE),
    );
  }

  /** Returns the place of a storage: the SIM or the modem. */
  placeIn(storage: string): Pick<StorageEntry, 'iccid' | 'device' | 'storage'> {
    const { device, iccid } = this.#parts;
    const isInSim = storage === SIM_STORAGE || device === undefined;
    return { iccid, storage, ...(isInSim ? {} : { device }) };
  }

  /** Returns the former SIM if the storage may contain its messages. */
  formerIccidIn(storage: string): string | undefined {
    return this.#stranded.has(storage) ? this.#formerIccid : undefined;
  }

  /** Call it when all messages of the storage are in the journal. New messages there belong to this SIM. */
  noteAccepted(storage: string): void {
    const { device, iccid, journal } = this.#parts;
    this.#stranded.delete(storage);
    if (device === undefined || this.#stranded.size > 0) return;
    if (journal.state.cards.get(device) === iccid) return;
    // If the journal refuses it, the next sweep tries again.
    journal.append({ kind: 'card', device, iccid }).catch(() => undefined);
  }
}
