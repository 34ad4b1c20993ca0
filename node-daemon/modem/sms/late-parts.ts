// Delivers incomplete concatenated messages after a time limit.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Journal } from '../../journal/journal.ts';
import { InvalidFactError, type NewRecord } from '../../journal/record.ts';
import type { ReadonlyGroups } from '../../journal/written-groups.ts';
import { joinParts } from '../../sms/concatenation.ts';
import { messageFacts } from './push-facts.ts';
import { RefusedMessages } from './refused-messages.ts';
import { factRecords, unreadableParts } from './sms-facts.ts';

/** Parts usually come within seconds. Later ones are delivered as a message of their own. */
export const PARTS_WAIT_MS = 10 * 60 * 1000;
const CHECK_MS = 15_000;

/** `waitMs` defaults to `PARTS_WAIT_MS`. */
interface LatePartsParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly waitMs?: number;
}

/** The timer of incomplete messages. */
export class LateParts {
  readonly #parts: LatePartsParts;
  readonly #refused: RefusedMessages;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(parts: LatePartsParts) {
    this.#parts = parts;
    this.#refused = new RefusedMessages(parts, 'incomplete messages still wait: the journal refuses them');
  }

  /** Checks regularly, until `stop`. */
  start(): void {
    if (this.#stopped) return;
    this.deliver()
      .catch(() => this.#refused.logRefused())
      .finally(() => {
        if (!this.#stopped) this.#timer = this.#parts.clock.after(CHECK_MS, () => this.start());
      });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Delivers the messages whose first part came too long ago. Rejects if the journal refuses. */
  async deliver(): Promise<void> {
    const { groups } = this.#parts.journal.state;
    const late = [...groups.keys()].filter((group) => this.#lateRecords(groups, group).length > 0);
    // The last part may be on its way to the disk now, so the decision is repeated when the journal writes.
    await Promise.all(
      late.map((group) =>
        this.#deliver(group).then(
          () => this.#refused.recorded(group),
          (error: unknown) => {
            this.#refused.refused(group, error);
            throw error;
          },
        ),
      ),
    );
  }

  async #deliver(group: string): Promise<void> {
    const { journal, log } = this.#parts;
    try {
      await journal.appendDecided((waiting) => this.#lateRecords(waiting, group));
    } catch (error) {
      if (!(error instanceof InvalidFactError)) throw error;
      // It would be refused each time.
      await journal.appendDecided((waiting) => this.#lateRecords(waiting, group, error.message));
      log.error({ err: error }, 'an incomplete message is reported as unreadable');
    }
  }

  /** `refusal`: why the link does not carry the message itself. */
  #lateRecords(groups: ReadonlyGroups, group: string, refusal?: string): NewRecord[] {
    const { clock, waitMs = PARTS_WAIT_MS } = this.#parts;
    const { iccid = '', parts: [first, ...others] = [] } = groups.get(group) ?? {};
    if (first === undefined) return [];
    const waitedMs = clock.now() - Date.parse(joinParts([first, ...others]).receivedAt);
    // A part in the future came while the clock was ahead, and would wait until that time.
    if (waitedMs < waitMs && waitedMs >= -waitMs) return [];
    const facts =
      refusal === undefined
        ? messageFacts(iccid, [first, ...others])
        : unreadableParts(iccid, [first, ...others], refusal);
    return factRecords(facts, { group });
  }
}
