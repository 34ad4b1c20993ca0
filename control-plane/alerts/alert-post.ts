// Sends the messages of one channel one after the other, each until it is accepted or given up.
import type { Base } from '../bus/base.ts';
import { GracefulStop } from '../housekeeping/graceful-stop.ts';
import { emitMetric } from '../metrics/metric-events.ts';
import {
  type AlertAttempt,
  claimMessage,
  composeMessage,
  endMessage,
  readMessage,
  retryMessage,
} from '../store/operations/alert-messages.ts';
import { type AlertChannel, afterDelivery, type Delivery } from './alert-channel.ts';

/** Longer than the attempt that it is for, with slack for clocks that differ. */
const LEASE_MS = 3 * 60_000;

interface AlertPostParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  channel: AlertChannel;
}

export class AlertPost {
  readonly #parts: AlertPostParts;
  readonly #stop = new GracefulStop();
  /** The receiver wants no further messages before the next start of the service. */
  #isGone = false;

  constructor(parts: AlertPostParts) {
    this.#parts = parts;
  }

  /** Sends all messages that are due. */
  async round(): Promise<void> {
    const { db, clock, channel } = this.#parts;
    while (!this.#stop.ending.aborted && !this.#isGone) {
      const now = new Date(clock.now());
      await composeMessage(db, channel.name, now);
      const attempt = await claimMessage(db, channel.name, { now, leaseMs: LEASE_MS });
      if (attempt === undefined) return;
      const message = await readMessage(db, attempt);
      const delivery = await channel.send(message, { isTest: false, signal: this.#stop.aborting });
      if (!(await this.#note(attempt, delivery))) return;
    }
  }

  /** Begins no further message; the present one ends in a few seconds. `stopped`: the end of the rounds. */
  stop(stopped: Promise<unknown>): Promise<void> {
    return this.#stop.end(this.#parts.clock, () => stopped);
  }

  /** Records the result of an attempt. Returns whether the next message may be sent. */
  async #note(attempt: AlertAttempt, delivery: Delivery): Promise<boolean> {
    const { db, clock, log } = this.#parts;
    const { id: message, channel } = attempt;
    const next = afterDelivery(delivery, attempt.attempt);
    const about = { message, channel, attempt: attempt.attempt, ...delivery };
    if (delivery.outcome === 'gone') {
      this.#isGone = true;
      log.error(
        about,
        'alert channel stopped until the next start: the receiver rejected all further alerts',
      );
    } else if (next.step === 'give_up')
      log.error(about, 'alert message given up: the receiver did not accept it');
    else if (delivery.outcome !== 'sent')
      log.warn(about, 'alert message not accepted: it will be sent again');
    emitMetric({ kind: 'alerts_sent', channel, outcome: delivery.outcome });
    if (next.step === 'retry') {
      await retryMessage(db, attempt, new Date(clock.now() + next.afterMs));
      return false;
    }
    await endMessage(db, message, next.step === 'sent' ? 'sent' : 'given_up');
    return true;
  }
}
