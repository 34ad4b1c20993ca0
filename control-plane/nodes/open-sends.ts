// Resolves sends that were open when their node's link, or this process, ended: only the node knows their outcome.
import type { Base } from '../bus/base.ts';
import { emitTextEnd } from '../metrics/metric-events.ts';
import {
  findUnsettled,
  recordOutcome,
  setUnsettled,
  type UnsettledSend,
} from '../store/messages/messages.ts';
import { uncountSend } from '../store/messages/sending.ts';
import { CommandRefused, type NodeLink } from './node-link.ts';

const ANSWER_TIMEOUT_MS = 5_000;

/** Nodes keep outcomes for a week. A node that does not know a command within a day never had it. */
const OUTCOME_MEMORY_MS = 24 * 60 * 60 * 1000;

type OpenSendsParts = Pick<Base, 'db' | 'log'>;

/** The open sends of a node that reconnected. */
export class OpenSends {
  readonly #parts: OpenSendsParts;
  readonly #link: NodeLink;
  readonly #span: { after: Date; before: Date };
  #asking: Promise<void> | undefined;
  #isDone = false;

  /** `before`: when the link began. A request still waits for any later send. */
  constructor(parts: OpenSendsParts, link: NodeLink, before: Date) {
    this.#parts = parts;
    this.#link = link;
    this.#span = { after: new Date(before.getTime() - OUTCOME_MEMORY_MS), before };
  }

  /**
   * Asks the node for their outcomes. A send that the node never received failed; it is not sent late. Call it repeatedly: a message that
   * waits in the node has no outcome yet, and only the answer to this question reports a refusal by the node.
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
    // Many sends may stay unknown for good; the sends after them still get their turn.
    for (let id = 0; ; ) {
      const open = await findUnsettled(this.#parts.db, this.#link.nodeId, { id, ...this.#span });
      const last = open.at(-1);
      if (last === undefined) break;
      const answers = await Promise.all(open.map((send) => this.#askOutcome(send)));
      isAnswered &&= !answers.includes(false);
      if (!answers.includes(true)) return;
      id = last.id;
    }
    this.#isDone = isAnswered;
  }

  /** False when the node did not respond. */
  async #askOutcome(open: UnsettledSend): Promise<boolean> {
    const { db, log } = this.#parts;
    try {
      const outcome = await this.#link.command(
        'send_sms',
        { iccid: open.iccid, to: open.to, body: open.body, segments_max: 255 },
        { id: open.commandId, timeLeftMs: 0, timeoutMs: ANSWER_TIMEOUT_MS },
      );
      emitTextEnd((await recordOutcome(db, open.commandId, outcome)).end);
      return true;
    } catch (error) {
      if (error instanceof CommandRefused) {
        emitTextEnd((await setUnsettled(db, open.commandId, { status: 'failed', why: 'node_refused' })).end);
        await uncountSend(db, open.commandId);
        return true;
      }
      log.debug({ err: error, command: open.commandId }, 'the outcome of a send stays unknown');
      return false;
    }
  }
}
