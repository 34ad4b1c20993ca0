// Reads the messages of a storage (3GPP TS 27.005 §3.4).
import { CmsError } from '../../../at/at-error.ts';
import { type AtCommand, atCommand } from '../../../at/command.ts';
import type { Priority } from '../../../at/command-queue.ts';
import type { Information } from '../../../at/exchange.ts';
import { type Announced, parseRead, type StoredMessage } from './sms-storage.ts';
import { STORAGE_TIMEOUT_MS, type StorageAccess } from './storage-access.ts';

/** Time to list 255 messages at SIM speed. */
const LIST_TIMEOUT_MS = 60_000;
/** 3GPP TS 27.005 §3.2.5: invalid memory index, a possible answer for an empty place. */
const CMS_INVALID_INDEX = 321;

interface StorageReaderParts {
  readonly access: StorageAccess;
  /** Resolves if the SIM is still this one, so that messages read before belong to it. */
  readonly confirmSim: () => Promise<void>;
}

/** Reads for one SIM. All methods reject as `AtChannel.send` and `confirmSim` do. */
export class StorageReader {
  readonly #parts: StorageReaderParts;

  constructor(parts: StorageReaderParts) {
    this.#parts = parts;
  }

  /** Resolves with the answers to AT+CMGL=4. */
  list(storage: string, priority: Priority): Promise<readonly Information[]> {
    const command = atCommand('AT+CMGL=4', {
      answer: /^\+CMGL:/,
      bodyAfter: /^\+CMGL:/,
      timeoutMs: LIST_TIMEOUT_MS,
    });
    return this.#read(storage, command, priority);
  }

  /** Resolves with the message in a place; `undefined` if the place is empty. */
  async readOne({ storage, index }: Announced): Promise<StoredMessage | undefined> {
    const command = atCommand(`AT+CMGR=${index}`, {
      answer: /^\+CMGR:/,
      bodyAfter: /^\+CMGR:/,
      timeoutMs: STORAGE_TIMEOUT_MS,
    });
    try {
      return parseRead(index, await this.#read(storage, command, 'urgent'));
    } catch (error) {
      if (error instanceof CmsError && error.code === CMS_INVALID_INDEX) return undefined;
      throw error;
    }
  }

  async #read(storage: string, command: AtCommand, priority: Priority): Promise<readonly Information[]> {
    const information = await this.#parts.access.send(storage, command, priority);
    await this.#parts.confirmSim();
    return information;
  }
}
