// Finds the owner of the messages in the storages of a modem: the SIM in it, or the one that was in it before.
import type { Journal } from '../../journal/journal.ts';
import type { StorageEntry } from '../../journal/record.ts';
import { SIM_STORAGE } from './sms-storage.ts';

/** The data that the owner is found by. */
interface StorageOwnerParts {
  readonly iccid: string;
  /** IMEI of the modem; a modem without one is not recognized again. */
  readonly device: string | undefined;
  readonly journal: Journal;
  readonly storages: readonly string[];
}

/** The SIM in a modem, and the SIM before it as long as a storage of the modem may hold its messages. */
export class StorageOwner {
  readonly #parts: StorageOwnerParts;
  /** `undefined` where the modem had no other SIM. */
  readonly #formerIccid: string | undefined;
  /** Storages of the modem with messages that came before this SIM did. */
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

  /** Where entries of a storage lie: in the SIM, or in the modem. */
  placeIn(storage: string): Pick<StorageEntry, 'iccid' | 'device' | 'storage'> {
    const { device, iccid } = this.#parts;
    const isInSim = storage === SIM_STORAGE || device === undefined;
    return { iccid, storage, ...(isInSim ? {} : { device }) };
  }

  /** The former SIM, where the storage may hold its messages. */
  formerIccidIn(storage: string): string | undefined {
    return this.#stranded.has(storage) ? this.#formerIccid : undefined;
  }

  /** The journal has all that lay in the storage: messages that come there now are of this SIM. */
  settled(storage: string): void {
    const { device, iccid, journal } = this.#parts;
    this.#stranded.delete(storage);
    if (device === undefined || this.#stranded.size > 0) return;
    if (journal.state.cards.get(device) === iccid) return;
    // If the journal refuses it, the next sweep tries again.
    journal.append({ kind: 'card', device, iccid }).catch(() => undefined);
  }
}
