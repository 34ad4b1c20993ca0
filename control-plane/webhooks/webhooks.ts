// Delivers the events of all webhooks: as they are committed here, and whatever is due, once a second.
import { randomUUID } from 'node:crypto';
import { KeyedCount } from '#shared/keyed-count.ts';
import type { Random } from '#shared/random.ts';
import type { Base } from '../bus/base.ts';
import { GracefulStop } from '../housekeeping/graceful-stop.ts';
import { repeat } from '../housekeeping/repeat.ts';
import { findDueWebhooks, firstDeliveries, type QueuedDelivery } from '../store/webhooks/webhook-queue.ts';
import { findTarget } from '../store/webhooks/webhooks.ts';
import { DeliveryQueue, LEASE_MS, type Owner, type QueueParts } from './delivery-queue.ts';
import type { Renderings } from './event-body.ts';
import type { Poster, PostResult } from './poster.ts';
import { Slots } from './slots.ts';

/** Retries, events of other instances, and queues of instances that died. */
const POLL_MS = 1_000;

/** Parallel requests of an instance. Receivers that hang or fail have slots of their own. */
const SLOTS = { ofHolder: 8, prompt: 256, slow: 256 };

/** Subscriptions with new events that wait for a query; beyond it the poll finds them. */
const CHANGED_MAX = 10_000;

/** Parallel test deliveries of a subscription. */
const TESTS_MAX = 2;

interface WebhooksParts extends Base {
  poster: Poster;
  random: Random;
  renderings: Renderings;
}

export class Webhooks {
  readonly #parts: QueueParts;
  readonly #poster: Poster;
  readonly #stop = new GracefulStop();
  /** By webhook. */
  readonly #queues = new Map<string, { queue: DeliveryQueue; run: Promise<void> }>();
  /** By subscription: the tests that are open. */
  readonly #tests = new KeyedCount();
  readonly #slots = new Slots(SLOTS);
  readonly #poll: { stop(): Promise<void> };
  /** Subscriptions with events since the last query. */
  #changed = new Set<string>();
  #reading: Promise<void> | undefined;
  /** All webhooks are to be read. */
  #isPolling = false;

  constructor({ bus, clock, db, log, poster, random, renderings }: WebhooksParts) {
    this.#poster = poster;
    this.#parts = {
      clock,
      db,
      log,
      poster,
      random,
      renderings,
      slots: this.#slots,
      instance: randomUUID(),
      ending: this.#stop.ending,
      aborting: this.#stop.aborting,
    };
    bus.subscribe((event) => {
      switch (event.kind) {
        case 'sms_received':
        case 'sms_status_changed':
        case 'webhook_queued':
          this.#onChange(event.subscriptionId);
          break;
        case 'call_changed':
        case 'call_ended':
          if (event.call.subscriptionId !== null) this.#onChange(event.call.subscriptionId);
          break;
        default:
      }
    });
    this.#poll = repeat({ clock, log, task: 'webhooks', everyMs: POLL_MS }, () => {
      this.#isPolling = true;
      return this.#read();
    });
  }

  /** Open requests. */
  get open(): number {
    return this.#slots.size;
  }

  get #isEnding(): boolean {
    return this.#stop.ending.aborted;
  }

  /** Sends a test event now. Undefined if the subscription has no such webhook; `busy` if it has too many tests under way. */
  async test(subscriptionId: string, id: string): Promise<PostResult | 'busy' | undefined> {
    if (this.#tests.of(subscriptionId) >= TESTS_MAX) return 'busy';
    const end = this.#tests.take(subscriptionId);
    try {
      // A test does not wait behind receivers that hang.
      const release = this.#slots.takeFree(subscriptionId, 'slow');
      if (release === undefined) return 'busy';
      return await this.#test(subscriptionId, id).finally(release);
    } finally {
      end();
    }
  }

  async #test(subscriptionId: string, id: string): Promise<PostResult | undefined> {
    const { clock, db } = this.#parts;
    const now = new Date(clock.now());
    const target = await findTarget(db, subscriptionId, id, now);
    if (target === undefined) return undefined;
    const body = { type: 'webhook.test', timestamp: now.toISOString(), data: { webhook_id: id } };
    return this.#poster.post(
      { ...target, id: `test_${randomUUID()}`, body: JSON.stringify(body) },
      this.#stop.aborting,
    );
  }

  /** Begins no further attempt. The other deliveries stay in the queue. */
  async stop(): Promise<void> {
    await this.#stop.end(this.#parts.clock, async () => {
      await this.#poll.stop();
      await this.#reading?.catch(() => undefined);
      await Promise.all([...this.#queues.values()].map(({ run }) => run));
    });
    this.#poster.close();
  }

  #onChange(subscriptionId: string): void {
    if (this.#isEnding) return;
    // A queue that is ending now would not be found.
    for (const { queue } of this.#queues.values())
      if (queue.subscriptionId === subscriptionId) queue.notify();
    if (this.#changed.size >= CHANGED_MAX) return;
    this.#changed.add(subscriptionId);
    this.#read().catch((error: unknown) =>
      this.#parts.log.warn({ err: error }, 'reading the due webhooks failed'),
    );
  }

  /** One query at a time, for all the events that came during the one before: only here queues begin. */
  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while ((this.#changed.size > 0 || this.#isPolling) && !this.#isEnding) {
      if (this.#changed.size > 0) await this.#readChanged();
      else await this.#readDue();
    }
  }

  async #readDue(): Promise<void> {
    this.#isPolling = false;
    const { clock, db, instance } = this.#parts;
    const due = await findDueWebhooks(db, { instance, now: new Date(clock.now()) });
    if (this.#isEnding) return;
    for (const owner of due) this.#run(owner);
  }

  async #readChanged(): Promise<void> {
    const { clock, db, instance } = this.#parts;
    const subscriptionIds = [...this.#changed];
    this.#changed = new Set();
    const first = await firstDeliveries(db, {
      instance,
      subscriptionIds,
      leaseMs: LEASE_MS,
      now: new Date(clock.now()),
      // Their queues are notified, and read it themselves.
      running: [...this.#queues.keys()],
    });
    // At a stop, too: their queues are this instance's, and each gives its own back.
    for (const delivery of first) this.#run({ ...delivery, id: delivery.webhookId }, delivery);
  }

  #run({ id, isFailing, subscriptionId }: Owner, first?: QueuedDelivery): void {
    if (this.#queues.has(id)) return;
    const queue = new DeliveryQueue(this.#parts, { id, isFailing, subscriptionId }, first);
    const run = queue
      .run()
      .catch((error: unknown) => this.#parts.log.warn({ err: error }, 'sending webhooks failed'))
      .finally(() => this.#queues.delete(id));
    this.#queues.set(id, { queue, run });
  }
}
