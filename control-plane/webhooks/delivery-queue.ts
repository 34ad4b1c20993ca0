// The deliveries of one webhook at this instance: one after the other. One that hangs does not stop those behind it.
import { withTimeout } from '#shared/clock.ts';
import { nextDelivery, type QueuedDelivery, releaseQueue } from '../store/webhooks/webhook-queue.ts';
import { type AttemptParts, attemptDelivery } from './attempt.ts';
import type { Slots } from './slots.ts';

/** Longer than any attempt, whose time-out is at most 60 s. */
export const LEASE_MS = 90_000;

/** The next event overtakes a receiver that has not answered for this long. */
const HANGS_AFTER_MS = 1_000;

/** Requests of one webhook that are open at a time, all but one of which hang. */
const OPEN_MAX = 4;

export interface QueueParts extends AttemptParts {
  /** Identifies this instance. */
  instance: string;
  /** Aborted when no further attempt may begin. */
  ending: AbortSignal;
  slots: Slots;
}

export interface Owner {
  /** Id of the webhook. */
  id: string;
  subscriptionId: string;
  isFailing: boolean;
}

export class DeliveryQueue {
  readonly #parts: QueueParts;
  readonly #owner: Owner;
  readonly #sending = new Map<number, Promise<void>>();
  /** The last attempt hung or failed. */
  #isSlow: boolean;
  #first: QueuedDelivery | undefined;
  /** There may be more since the queue was read. */
  #mayHaveMore = false;
  /** Wakes the queue while it waits for a request that hangs. */
  #wake: () => void = () => undefined;

  /** `first`: the delivery that was read with the queue. */
  constructor(parts: QueueParts, owner: Owner, first?: QueuedDelivery) {
    this.#parts = parts;
    this.#owner = owner;
    this.#isSlow = owner.isFailing;
    this.#first = first;
  }

  get subscriptionId(): string {
    return this.#owner.subscriptionId;
  }

  /** There is something new. */
  notify(): void {
    this.#mayHaveMore = true;
    this.#wake();
  }

  /** Sends until nothing is due. Rejects if the database fails: the lease ends by itself. */
  async run(): Promise<void> {
    const { db, ending, instance } = this.#parts;
    do {
      try {
        await this.#sendAll();
      } finally {
        await Promise.allSettled(this.#sending.values());
      }
      await releaseQueue(db, this.#owner.id, instance);
    } while (this.#mayHaveMore && !ending.aborted);
  }

  /** Whether there was something new since the last call. */
  #takeMayHaveMore(): boolean {
    const mayHaveMore = this.#mayHaveMore;
    this.#mayHaveMore = false;
    return mayHaveMore;
  }

  async #sendAll(): Promise<void> {
    while (!this.#parts.ending.aborted) {
      // An event that came during the read may not be in it.
      if ((await this.#sendNext()) || this.#takeMayHaveMore()) continue;
      if (this.#sending.size === 0) return;
      const woken = new Promise<void>((wake) => {
        this.#wake = wake;
      });
      await Promise.race([woken, ...this.#sending.values()]);
    }
  }

  #isEnding(): boolean {
    return this.#parts.ending.aborted;
  }

  /** False if nothing is due. */
  async #sendNext(): Promise<boolean> {
    if (this.#sending.size >= OPEN_MAX) await Promise.race(this.#sending.values());
    const { clock, db, instance, slots } = this.#parts;
    const { id: webhookId, subscriptionId } = this.#owner;
    const kind = this.#isSlow ? 'slow' : 'prompt';
    const free = slots.takeFree(subscriptionId, kind);
    const release = free ?? (await slots.take(subscriptionId, kind));
    // After a wait, its text may have been deleted.
    let delivery = free === undefined ? undefined : this.#first;
    this.#first = undefined;
    if (delivery !== undefined) {
      await this.#begin(delivery, release);
      return true;
    }
    try {
      if (this.#isEnding()) return false;
      const sending = [...this.#sending.keys()];
      const now = new Date(clock.now());
      // Read when its turn has come: a text that was deleted until now is not sent.
      const next = await nextDelivery(db, { webhookId, instance, sending, now, leaseMs: LEASE_MS });
      if (next === undefined || this.#isEnding()) return false;
      delivery = next;
    } finally {
      if (delivery === undefined) release();
    }
    await this.#begin(delivery, release);
    return true;
  }

  /** Resolves when the attempt has ended, or hangs. */
  async #begin(delivery: QueuedDelivery, release: () => void): Promise<void> {
    const { clock, log } = this.#parts;
    const attempt = attemptDelivery(this.#parts, delivery)
      .then(
        (result) => {
          if (result !== undefined)
            this.#isSlow = result.outcome !== 'delivered' || result.durationMs >= HANGS_AFTER_MS;
        },
        (error: unknown) => log.warn({ err: error }, 'recording a webhook delivery failed'),
      )
      .finally(() => {
        this.#sending.delete(delivery.id);
        release();
      });
    this.#sending.set(delivery.id, attempt);
    await withTimeout(clock, attempt, HANGS_AFTER_MS, () => new Error('hangs')).catch(() => {
      this.#isSlow = true;
    });
  }
}
