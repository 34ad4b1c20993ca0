// Claims that wait: with an empty inbox, a caller gets a response when a message is stored, or when the time is over.
import type * as z from 'zod';
import type { awaitedCodeSchema } from '#shared/api/answers.ts';
import type { receiveToolSchema, waitForCodeToolSchema } from '#shared/api/requests.ts';
import type { Timer } from '#shared/clock.ts';
import type { Base } from '../bus/base.ts';
import { checkSender } from '../domain/destination-policy.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import { progressTimer } from '../waits/progress-timer.ts';
import type { WaitPlaces } from '../waits/wait-places.ts';
import { Waiter } from '../waits/waiter.ts';
import type { InboxClaims, Received } from './sms.ts';

/** Other instances do not report the messages that they store, so the store is polled. */
const POLL_EVERY_MS = 1_000;

interface SmsWaitsParts extends Pick<Base, 'bus' | 'clock' | 'log'> {
  inbox: InboxClaims;
  places: WaitPlaces;
}

/** The subscription that claims, and the connection to its client. */
export interface Claimant {
  subscription: Subscription;
  /** Identifies the token. */
  key: string;
  /** Throws `Refusal` `unauthorized` once the token is no longer valid. */
  check(): Promise<unknown>;
  /** Aborts when the client no longer wants the response. */
  signal: AbortSignal;
  /** Aborts when the connection was lost before the whole response was sent. */
  lost: AbortSignal;
  /** Called every few seconds during a wait. */
  onProgress(seconds: number): void;
}

class ClaimWaiter extends Waiter {
  readonly subscription: Subscription;
  isOver = false;
  /** The token may have been revoked since it was checked. */
  isDoubtful = false;

  constructor(subscription: Subscription) {
    super();
    this.subscription = subscription;
  }
}

export class SmsWaits {
  readonly #parts: SmsWaitsParts;
  readonly #waiters = new Set<ClaimWaiter>();
  readonly #givingBack = new Set<Promise<void>>();
  #pollTimer: Timer | undefined;
  #isDraining = false;

  constructor(parts: SmsWaitsParts) {
    this.#parts = parts;
    parts.bus.subscribe((event) => {
      // A revocation may have been missed meanwhile.
      if (event.kind === 'bus_changed') for (const waiter of this.#waiters) waiter.isDoubtful = true;
      if (event.kind !== 'sms_received' && event.kind !== 'subscription_changed') return;
      for (const waiter of this.#waiters) {
        if (waiter.subscription.id !== event.subscriptionId) continue;
        if (event.kind === 'subscription_changed') waiter.isDoubtful = true;
        waiter.ring();
      }
    });
  }

  /** The number of waiting claims. */
  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Claims the messages that are there, or the first one within `wait_seconds`. Messages that are lost on the way to the client become
   * claimable again. Throws `Refusal`: `unauthorized`, `rate_limited`, `restarting`; throws the signal's reason when it aborts.
   */
  async receive(
    claimant: Claimant,
    { limit, wait_seconds: seconds }: z.output<typeof receiveToolSchema>,
  ): Promise<Received> {
    return this.#wait(claimant, seconds, () => this.#parts.inbox.claim(claimant.subscription, { limit }));
  }

  /**
   * Claims the newest message with a one-time code, or the first one within `wait_seconds`. Other messages stay claimable. Throws as `receive`.
   */
  async receiveCode(
    claimant: Claimant,
    { from, max_age_seconds: ageSeconds, wait_seconds: seconds }: z.output<typeof waitForCodeToolSchema>,
  ): Promise<z.output<typeof awaitedCodeSchema>> {
    const { clock, inbox } = this.#parts;
    checkSender(from);
    const since = new Date(clock.now() - ageSeconds * 1000);
    const { messages } = await this.#wait(claimant, seconds, () =>
      inbox.claimCode(claimant.subscription, { from, since }),
    );
    const [message = null] = messages;
    return {
      code: message?.code ?? null,
      code_origin: message?.code_origin ?? null,
      code_embedded_origin: message?.code_embedded_origin ?? null,
      message,
    };
  }

  async #wait(claimant: Claimant, seconds: number, claim: () => Promise<Received>): Promise<Received> {
    if (seconds === 0) return this.#claim(claimant, claim);
    const leave = this.#parts.places.take(claimant.key);
    const waiter = new ClaimWaiter(claimant.subscription);
    // Before the first check, so that a message that arrives during it is not missed.
    this.#waiters.add(waiter);
    const over = this.#parts.clock.after(seconds * 1000, () => {
      waiter.isOver = true;
      waiter.ring();
    });
    const progress = progressTimer(this.#parts.clock, claimant.onProgress);
    try {
      for (;;) {
        waiter.hasBegun();
        const { isOver } = waiter;
        await this.#checkToken(claimant, waiter);
        const received = await this.#claim(claimant, claim);
        if (received.count > 0 || isOver) return received;
        this.#pollStore();
        await waiter.rung(claimant.signal);
      }
    } finally {
      this.#waiters.delete(waiter);
      for (const timer of [over, progress]) timer.cancel();
      leave();
    }
  }

  /** Ends every wait with `restarting`, and refuses new ones. */
  drain(): void {
    this.#isDraining = true;
    for (const waiter of this.#waiters) waiter.ring();
    this.#pollTimer?.cancel();
  }

  /** Resolves when all lost messages are claimable again. */
  async idle(): Promise<void> {
    await Promise.all(this.#givingBack);
  }

  /** Only when the token is in doubt, not before every claim: it delays the claim. */
  async #checkToken({ check, subscription }: Claimant, waiter: ClaimWaiter): Promise<void> {
    const { bus, clock } = this.#parts;
    if (!waiter.isDoubtful && bus.isConnected && isActive(subscription, new Date(clock.now()))) return;
    waiter.isDoubtful = false;
    await check();
  }

  async #claim({ lost, signal, subscription }: Claimant, claim: () => Promise<Received>): Promise<Received> {
    if (this.#isDraining)
      throw new Refusal('restarting', 'The service is restarting. Send the request again.');
    signal.throwIfAborted();
    const received = await claim();
    if (received.count === 0) return received;
    const giveBack = (): void => this.#giveBack(subscription, received);
    if (lost.aborted) giveBack();
    else lost.addEventListener('abort', giveBack, { once: true });
    return received;
  }

  #giveBack(subscription: Subscription, received: Received): void {
    const { inbox, log } = this.#parts;
    const givingBack = inbox
      .giveBack(subscription, received)
      .catch((error: unknown) => log.warn({ err: error }, 'returning lost messages to the inbox failed'))
      .finally(() => this.#givingBack.delete(givingBack));
    this.#givingBack.add(givingBack);
  }

  /** One query per second for all waits. */
  #pollStore(): void {
    if (this.#pollTimer !== undefined || this.#isDraining) return;
    this.#pollTimer = this.#parts.clock.after(POLL_EVERY_MS, () => void this.#poll());
  }

  async #poll(): Promise<void> {
    const { inbox, log } = this.#parts;
    try {
      const ids = [...new Set([...this.#waiters].map(({ subscription }) => subscription.id))];
      const filled = ids.length === 0 ? new Set() : new Set(await inbox.filled(ids));
      for (const waiter of this.#waiters) if (filled.has(waiter.subscription.id)) waiter.ring();
    } catch (error) {
      log.warn({ err: error }, 'polling the store for messages failed');
    }
    this.#pollTimer = undefined;
    if (this.#waiters.size > 0) this.#pollStore();
  }
}
