// Settles what a node alone knows: sends that were open when its link, or this process, ended.
import type { Logger } from '#shared/log.ts';
import type { Database } from '../store/database/database.ts';
import {
  findUnsettled,
  recordOutcome,
  setUnsettled,
  type UnsettledSend,
} from '../store/messages/messages.ts';
import type { NodeLink } from './fleet.ts';
import { CommandRefused } from './pending-commands.ts';

const ANSWER_TIMEOUT_MS = 5_000;

/** Nodes keep outcomes for a week: within a day a node that knows nothing of a command never had it. */
const OUTCOME_MEMORY_MS = 24 * 60 * 60 * 1000;

export interface OpenSendsParts {
  db: Database;
  log: Logger;
}

/** The open sends of a node that came back. */
export class OpenSends {
  readonly #parts: OpenSendsParts;
  readonly #link: NodeLink;
  readonly #span: { after: Date; before: Date };
  #asking: Promise<void> | undefined;
  #isDone = false;

  /** `before`: when the link began; what was sent since has somebody who waits for it. */
  constructor(parts: OpenSendsParts, link: NodeLink, before: Date) {
    this.#parts = parts;
    this.#link = link;
    this.#span = { after: new Date(before.getTime() - OUTCOME_MEMORY_MS), before };
  }

  /**
   * Asks the node what became of them; one that it never saw is not sent late: it failed. To be called again now and
   * then: a message that waits in the node has no answer yet, and one that is refused there is told to nobody else.
   */
  ask(): Promise<void> {
    if (this.#isDone) return Promise.resolve();
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askAll(): Promise<void> {
    let isAnswered = true;
    // Many may stay unknown for good: those behind them have their turn all the same.
    for (let id = 0; ; ) {
      const open = await findUnsettled(this.#parts.db, this.#link.nodeId, { id, ...this.#span });
      const last = open.at(-1);
      if (last === undefined) break;
      const answers = await Promise.all(open.map((send) => this.#settle(send)));
      isAnswered &&= !answers.includes(false);
      if (!answers.includes(true)) return;
      id = last.id;
    }
    this.#isDone = isAnswered;
  }

  /** False when the node did not answer. */
  async #settle(open: UnsettledSend): Promise<boolean> {
    const { db, log } = this.#parts;
    try {
      const outcome = await this.#link.command(
        'send_sms',
        { iccid: open.iccid, to: open.to, body: open.body, segments_max: 255 },
        { id: open.commandId, timeLeftMs: 0, timeoutMs: ANSWER_TIMEOUT_MS },
      );
      await recordOutcome(db, open.commandId, outcome);
      return true;
    } catch (error) {
      if (error instanceof CommandRefused) {
        await setUnsettled(db, open.commandId, { status: 'failed' });
        return true;
      }
      log.debug({ err: error, command: open.commandId }, 'a send stays open');
      return false;
    }
  }
}
