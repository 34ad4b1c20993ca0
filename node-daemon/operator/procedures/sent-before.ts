// Whether a message with an operator's id is the one that had it before.
import { createHash } from 'node:crypto';
import { OperatorError } from '#shared/operator/operator-error.ts';
import type { ReadonlyCommandMap } from '../../journal/command-map.ts';

interface Message {
  readonly to: string;
  /** Digest of the text. */
  readonly digest: string;
}

/** 32 bits distinguish two texts. An attacker could find a short text by trying all, so the journal keeps these digests with its key. */
export const shortDigestOf = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 8);

/** Ids that are in use: in the journal, and those that are on their way there. */
export class SentBefore {
  readonly #commands: () => ReadonlyCommandMap;
  readonly #underWay = new Map<string, Message>();

  constructor(commands: () => ReadonlyCommandMap) {
    this.#commands = commands;
  }

  /** Gives a message its id while `send` runs, and passes it whether that is a repetition. Throws `OperatorError` for another message. */
  async give<T>(id: string, message: Message, send: (isRepeat: boolean) => Promise<T>): Promise<T> {
    const known = this.#underWay.get(id) ?? this.#commands().get(id);
    if (known !== undefined) {
      const isSame = known.to === message.to && known.digest === message.digest;
      if (isSame) return send(true);
      throw new OperatorError(
        'refused',
        `not sent: ${id} belongs to another message (${known.to === message.to ? 'another text' : 'to another number'}); leave out --id to send this one`,
      );
    }
    this.#underWay.set(id, message);
    try {
      return await send(false);
    } finally {
      this.#underWay.delete(id);
    }
  }
}
