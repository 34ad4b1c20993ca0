// Commands for one storage of messages. The line of each command names the storage. A modem that restarts without notice forgets the
// choice, and the next deletion would hit an unread message.
import { ask } from '../../at/ask.ts';
import type { AtChannel } from '../../at/channel.ts';
import { type AtCommand, atCommand, quoted } from '../../at/command.ts';
import type { Priority } from '../../at/command-queue.ts';
import type { Information } from '../../at/exchange.ts';
import { fieldsOf, integerField } from '../../at/fields.ts';
import { parseReceivingUsage, type StorageUsage } from './sms-storage.ts';

/** SIMs are slow, and slower when they are full. */
export const STORAGE_TIMEOUT_MS = 15_000;
const ANSWER = /^\+CPMS:/;

/** How a modem takes the choice of a storage (3GPP TS 27.005 §3.2.2). */
export interface StorageForm {
  /** On one line with the command (V.250 §5.2.1), which is not carried out when the choice fails. */
  readonly joined: boolean;
  /** Where arriving messages are put: for modems that take all three storages or none (Huawei E3372-325). */
  readonly receiving?: string;
}

/** Sends commands to the storages of one modem. */
export class StorageAccess {
  readonly #channel: AtChannel;
  readonly #form: StorageForm;
  readonly #onUsage: (usage: StorageUsage) => void;

  /** `onUsage` is called with each choice, with how full the storage of arriving messages is, where the modem says so. */
  constructor(channel: AtChannel, form: StorageForm, onUsage: (usage: StorageUsage) => void) {
    this.#channel = channel;
    this.#form = form;
    this.#onUsage = onUsage;
  }

  /** How full a storage is; null where the modem does not say. No other task may choose a storage meanwhile. */
  async usage(storage: string): Promise<{ readonly used: number | null; readonly total: number | null }> {
    const [line = ''] = (await ask(this.#channel, choice(this.#form, storage), 'background')) ?? [];
    const fields = fieldsOf(line);
    return { used: integerField(fields, 0) ?? null, total: integerField(fields, 1) ?? null };
  }

  /** As `AtChannel.send`. No other task may choose a storage meanwhile. */
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

/** The choice of a storage and the command for it as one command. */
export function onOneLine(form: StorageForm, storage: string, command: AtCommand): AtCommand {
  const { text, shownAs: _same, answer, ...options } = command;
  const answers = answer === undefined ? ANSWER : new RegExp(`${ANSWER.source}|${answer.source}`);
  return atCommand(`${choice(form, storage).text};${text.slice('AT'.length)}`, {
    ...options,
    answer: answers,
    timeoutMs: Math.max(options.timeoutMs, STORAGE_TIMEOUT_MS),
  });
}

/** The choice of a storage alone. */
export function choice({ receiving }: StorageForm, storage: string): AtCommand {
  const storages = receiving === undefined ? [storage] : [storage, storage, receiving];
  return atCommand(`AT+CPMS=${storages.map(quoted).join()}`, {
    answer: ANSWER,
    timeoutMs: STORAGE_TIMEOUT_MS,
  });
}
