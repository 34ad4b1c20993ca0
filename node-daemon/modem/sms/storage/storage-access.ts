// Sends commands for one message storage (3GPP TS 27.005 §3.2.2). Each command line selects the storage: a modem that
// restarts without a report forgets the selection, and the next deletion would delete an unread message.
import { ask } from '../../../at/ask.ts';
import type { AtChannel } from '../../../at/channel.ts';
import { type AtCommand, atCommand, quoted } from '../../../at/command.ts';
import type { Priority } from '../../../at/command-queue.ts';
import type { Information } from '../../../at/exchange.ts';
import { fieldsOf, integerField } from '../../../at/fields.ts';
import { parseReceivingUsage, type StorageUsage } from './sms-storage.ts';

/** SIMs are slow, and slower when they are full. */
export const STORAGE_TIMEOUT_MS = 15_000;
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
      const information = await this.#channel.send(joinedCommand(this.#form, storage, command), priority);
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

/** Returns the selection of a storage and the command for it as one command. */
export function joinedCommand(form: StorageForm, storage: string, command: AtCommand): AtCommand {
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
