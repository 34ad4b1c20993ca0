// Corrects the times of facts by the error of this host's clock, which the control plane reported.
import { type Clock, every, type Timer } from '#shared/clock.ts';
import type { Fact } from '#shared/link/messages.ts';
import type { Slot } from '#shared/link/slot.ts';
import type { Logger } from '#shared/log.ts';
import type { LiveCall } from '#shared/voice/call.ts';
import type { Journal } from '../journal/journal.ts';

const CHECK_MS = 10_000;
/** If the clock differs from our timers by more than this, it was set. A busy process is late by less. */
const STEP_MS = 60_000;

interface ClockCorrectionParts {
  readonly clock: Clock;
  readonly journal: Pick<Journal, 'state'>;
  readonly log: Logger;
}

/**
 * Corrects facts that were made since the process started or the clock was set. Older facts keep their times, because the earlier error
 * of the clock is unknown.
 */
export class ClockCorrection {
  readonly #parts: ClockCorrectionParts;
  #offsetMs = 0;
  #checkedAt: number;
  #journalId = '';
  #firstSequence = 0;
  #timer: Timer | undefined;

  constructor(parts: ClockCorrectionParts) {
    this.#parts = parts;
    this.#checkedAt = parts.clock.now();
    this.#restart();
  }

  /** Checks repeatedly whether the clock was set, until `stop`. */
  start(): void {
    this.#check();
    this.#timer = every(this.#parts.clock, CHECK_MS, () => this.#check());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Offset to add to the clock for the control plane's time; 0 until the control plane reported another one. */
  get offsetMs(): number {
    this.#notice();
    return this.#offsetMs;
  }

  learn(offsetMs: number): void {
    this.#notice();
    this.#offsetMs = offsetMs;
  }

  /** Returns the fact with corrected times. */
  corrected(sequence: number, fact: Fact): Fact {
    const { offsetMs } = this;
    const isOlder = sequence < this.#firstSequence || this.#parts.journal.state.journalId !== this.#journalId;
    if (offsetMs === 0 || isOlder) return fact;
    const shifted = (time: string): string => shiftedBy(time, offsetMs);
    switch (fact.kind) {
      case 'sms_received': {
        const { arrived_after: after } = fact;
        const arrived = after === undefined ? {} : { arrived_after: shifted(after) };
        return { ...fact, received_at: shifted(fact.received_at), ...arrived };
      }
      case 'sms_unreadable':
        return { ...fact, received_at: shifted(fact.received_at) };
      case 'call_ended': {
        const answeredAt = fact.answered_at === null ? null : shifted(fact.answered_at);
        const times = { started_at: shifted(fact.started_at), ended_at: shifted(fact.ended_at) };
        return { ...fact, ...times, answered_at: answeredAt };
      }
      default:
        return fact;
    }
  }

  /** Returns the call with corrected times. */
  correctedCall(call: LiveCall): LiveCall {
    const { offsetMs } = this;
    const { answered_at: answeredAt, started_at: startedAt } = call;
    return {
      ...call,
      started_at: shiftedBy(startedAt, offsetMs),
      answered_at: answeredAt && shiftedBy(answeredAt, offsetMs),
    };
  }

  /**
   * Returns the slots with corrected times. A sweep in the future was timed before the clock was set, so it is left out until
   * the next sweep.
   */
  correctedSlots(slots: readonly Slot[]): Slot[] {
    const { clock } = this.#parts;
    const { offsetMs } = this;
    return slots.map((slot) => {
      if (slot.swept_at === null) return slot;
      const sweptAt = Date.parse(slot.swept_at);
      const corrected = sweptAt > clock.now() ? null : new Date(sweptAt + offsetMs).toISOString();
      return { ...slot, swept_at: corrected };
    });
  }

  #check(): void {
    this.#notice();
    this.#checkedAt = this.#parts.clock.now();
  }

  #notice(): void {
    const { clock, log } = this.#parts;
    const sinceMs = clock.now() - this.#checkedAt;
    if (sinceMs >= -STEP_MS && sinceMs <= CHECK_MS + STEP_MS) return;
    log.info({ offByMs: this.#offsetMs }, 'this node’s clock was set: using it without a correction');
    this.#checkedAt = clock.now();
    this.#offsetMs = 0;
    this.#restart();
  }

  #restart(): void {
    const { journalId, nextSequence } = this.#parts.journal.state;
    this.#journalId = journalId;
    this.#firstSequence = nextSequence;
  }
}

const shiftedBy = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();
