// Sends commands for one message storage, and reads its messages (3GPP TS 27.005 §3.4). Each command line selects the storage: a modem that
// restarts without a report forgets the selection, and the next deletion would delete an unread message.
import { ask } from '../../at/ask.ts';
import { CmsError } from '../../at/at-error.ts';
import type { AtChannel } from '../../at/channel.ts';
import { type AtCommand, atCommand, quoted } from '../../at/command.ts';
import type { Priority } from '../../at/command-queue.ts';
import type { Information } from '../../at/exchange.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import {
  type Announced,
  parseRead,
  parseReceivingUsage,
  type StorageUsage,
  type StoredMessage,
} from './sms-storage.ts';

/** SIMs are slow, and slower when they are full. */
export const STORAGE_TIMEOUT_MS = 15_000;
/** Time to list 255 messages at SIM speed. */
const LIST_TIMEOUT_MS = 60_000;
/** 3GPP TS 27.005 §3.2.5: invalid memory index, a possible answer for an empty place. */
const CMS_INVALID_INDEX = 321;
const ANSWER = /^\+CPMS:/;

/** How a modem accepts the selection of a storage (3GPP TS 27.005 §3.2.2). */
export interface StorageForm {
  /** Whether it is on one line with the command (V.250 §5.2.1), which does not run if the selection fails. */
  readonly joined: boolean;
  /** The storage of incoming messages, for modems that need all three storages (Huawei E3372-325). */
  readonly receiving?: string;
}

/** Sends commands to the storages of one modem. */
export class StorageAccess {
  readonly #channel: AtChannel;
  readonly #form: StorageForm;
  readonly #onUsage: (usage: StorageUsage) => void;

  /** `onUsage` is called with the use of the receiving storage at each selection, if the modem reports it. */
  constructor(channel: AtChannel, form: StorageForm, onUsage: (usage: StorageUsage) => void) {
    this.#channel = channel;
    this.#form = form;
    this.#onUsage = onUsage;
  }

  /** Resolves with the use of a storage; null if the modem does not report it. No other task may select a storage meanwhile. */
  async usage(storage: string): Promise<{ readonly used: number | null; readonly total: number | null }> {
    const [line = ''] = (await ask(this.#channel, choice(this.#form, storage), 'background')) ?? [];
    const fields = fieldsOf(line);
    return { used: integerField(fields, 0) ?? null, total: integerField(fields, 1) ?? null };
  }

  /** As `AtChannel.send`. No other task may select a storage meanwhile. */
  async send(
    storage: string,
    command: AtCommand,
    priority: Priority = 'normal',
  ): Promise<readonly Information[]> {
    if (this.#form.joined) {
      const information = await this.#channel.send(onOneLine(this.#form, storage, command), priority);
      this.#reportUsage(information);
      return information.filter(({ line }) => !ANSWER.test(line));
    }
    this.#reportUsage(await this.#channel.send(choice(this.#form, storage), 'urgent'));
    return this.#channel.send(command, priority);
  }

  #reportUsage(information: readonly Information[]): void {
    const line = information.find((each) => ANSWER.test(each.line))?.line;
    const usage = line === undefined ? undefined : parseReceivingUsage(line);
    if (usage !== undefined) this.#onUsage(usage);
  }
}

/** The parts that reading uses. */
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

/** Returns the selection of a storage and the command for it as one command. */
export function onOneLine(form: StorageForm, storage: string, command: AtCommand): AtCommand {
  const { text, shownAs: _same, answer, ...options } = command;
  const answers = answer === undefined ? ANSWER : new RegExp(`${ANSWER.source}|${answer.source}`);
  return atCommand(`${choice(form, storage).text};${text.slice('AT'.length)}`, {
    ...options,
    answer: answers,
    timeoutMs: Math.max(options.timeoutMs, STORAGE_TIMEOUT_MS),
  });
}

/** Returns the selection of a storage. */
export function choice({ receiving }: StorageForm, storage: string): AtCommand {
  const storages = receiving === undefined ? [storage] : [storage, storage, receiving];
  return atCommand(`AT+CPMS=${storages.map(quoted).join()}`, {
    answer: ANSWER,
    timeoutMs: STORAGE_TIMEOUT_MS,
  });
}
