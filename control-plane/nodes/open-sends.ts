// Resolves sends whose request ended before their outcome was known, with a link or an instance: only the node knows it.
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { Base } from '../bus/base.ts';
import { FRESH_MS } from '../bus/replay-guard.ts';
import { emitTextEnd } from '../metrics/metric-events.ts';
import {
  findOpenSends,
  type OpenSend,
  type OpenStatus,
  recordNoOutcome,
  recordOutcome,
} from '../store/messages/messages.ts';
import { uncountSend } from '../store/messages/sending.ts';
import type { NodeLink } from './node-link.ts';

const ANSWER_TIMEOUT_MS = 5_000;

/** Nodes keep outcomes for a week. A node that does not know a command within a day never had it. */
const OUTCOME_MEMORY_MS = 24 * 60 * 60 * 1000;

/** Between two searches for sends whose instance died. */
const ABANDONED_EVERY_MS = 60_000;

interface OpenSendsParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  /** How long a request waits for the outcome. */
  sendTimeoutMs: number;
}

/** The open sends of a node that has a link. */
export class OpenSends {
  readonly #parts: OpenSendsParts;
  readonly #link: NodeLink;
  readonly #before: Date;
  #asking: Promise<void> | undefined;
  /** Whether the node was asked about all sends of earlier links. */
  #isDone = false;
  #abandonedAtMs = Number.NEGATIVE_INFINITY;

  /** `before`: when the link began. A later send has a request that waits for it, unless the instance of that request died. */
  constructor(parts: OpenSendsParts, link: NodeLink, before: Date) {
    this.#parts = parts;
    this.#link = link;
    this.#before = before;
  }

  /**
   * Asks the node for their outcomes. A send that the node never received failed; it is not sent late. Call it repeatedly: a message that
   * waits in the node has no outcome yet, and only the answer to this question reports a refusal by the node.
   */
  ask(): Promise<void> {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askAll(): Promise<void> {
    // One that the node never answers about keeps no later one waiting.
    if (!this.#isDone) this.#isDone = await this.#askThose(this.#before, ['sending', 'unknown']);
    const nowMs = this.#parts.clock.now();
    if (nowMs - this.#abandonedAtMs < ABANDONED_EVERY_MS) return;
    this.#abandonedAtMs = nowMs;
    // No request waits this long, by the clock of any instance. A send still on its way to the node would fail, and then go out.
    const before = new Date(nowMs - this.#parts.sendTimeoutMs - FRESH_MS);
    await this.#askThose(before, ['sending']);
  }

  /** True when the node has answered about each. */
  async #askThose(before: Date, statuses: readonly OpenStatus[]): Promise<boolean> {
    const after = new Date(before.getTime() - OUTCOME_MEMORY_MS);
    let isAnswered = true;
    // Many sends may stay unknown for good; the sends after them still get their turn.
    for (let id = 0; ; ) {
      const open = await findOpenSends(this.#parts.db, this.#link.nodeId, { id, after, before, statuses });
      const last = open.at(-1);
      if (last === undefined) break;
      const answers = await Promise.all(open.map((send) => this.#askOutcome(send)));
      isAnswered &&= !answers.includes(false);
      if (!answers.includes(true)) return false;
      id = last.id;
    }
    return isAnswered;
  }

  /** False when the node did not respond. */
  async #askOutcome(open: OpenSend): Promise<boolean> {
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
      if (error instanceof CommandRefusal) {
        emitTextEnd(
          (await recordNoOutcome(db, open.commandId, { status: 'failed', why: 'node_refused' })).end,
        );
        await uncountSend(db, open.commandId);
        return true;
      }
      log.debug({ err: error, command: open.commandId }, 'the outcome of a send stays unknown');
      return false;
    }
  }
}
