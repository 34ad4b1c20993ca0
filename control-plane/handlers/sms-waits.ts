// Claims that wait: a caller that finds an empty inbox is answered when a message is stored, or when the time is over.
import type * as z from 'zod';
import type { receiveToolSchema } from '#shared/api/requests.ts';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Bus } from '../bus/bus.ts';
import { Refusal } from '../domain/refusal.ts';
import { isActive, type Subscription } from '../domain/subscription.ts';
import { observe } from '../metrics/observation.ts';
import type { Inbox, Received } from './sms.ts';

/** Other instances do not report the messages that they store: the store is polled for them. */
const LOOK_EVERY_MS = 1_000;

/** Clients that wait want a sign of life every 10 s. */
const PROGRESS_EVERY_MS = 5_000;

/** For a caller that opens more and more waits. */
const RETRY_AFTER_SECONDS = 5;

export interface SmsWaitsParts {
  inbox: Inbox;
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** Waits that one token may have at once. */
  waitsPerToken: number;
}

/** The subscription that claims, and how to reach its client. */
export interface Claimant {
  subscription: Subscription;
  /** The same for the same token. */
  key: string;
  /** Throws `Refusal` `unauthorized` once the token is not good any more. */
  check(): Promise<unknown>;
  /** Aborted when the client no longer wants the answer. */
  signal: AbortSignal;
  /** Aborted when the connection was lost before all of the answer had left. */
  lost: AbortSignal;
  /** Called every few seconds of a wait. */
  onProgress(seconds: number): void;
}

interface Waiter {
  subscription: Subscription;
  /** Something may have come, or the time is over, or the token is not good any more: it looks. */
  isRung: boolean;
  isOver: boolean;
  /** The token may have been revoked since it was checked. */
  isDoubtful: boolean;
  /** Wakes it while it sleeps. */
  wake: () => void;
}

export class SmsWaits {
  readonly #parts: SmsWaitsParts;
  readonly #waiters = new Set<Waiter>();
  /** How many wait with each token. */
  readonly #held = new Map<string, number>();
  readonly #givingBack = new Set<Promise<void>>();
  #looking: Timer | undefined;
  #isDraining = false;

  constructor(parts: SmsWaitsParts) {
    this.#parts = parts;
    parts.bus.subscribe((event) => {
      if (event.kind !== 'sms_received' && event.kind !== 'subscription_changed') return;
      for (const waiter of this.#waiters) {
        if (waiter.subscription.id !== event.subscriptionId) continue;
        if (event.kind === 'subscription_changed') waiter.isDoubtful = true;
        ring(waiter);
      }
    });
  }

  /** The number of claims that wait. */
  get size(): number {
    return this.#waiters.size;
  }

  /**
   * Claims the messages that are there, or the first that comes within `wait_seconds`. Messages that are lost on their
   * way out are given back. Throws `Refusal`: `unauthorized`, `rate_limited`, `restarting`; the signal's reason when it
   * is aborted.
   */
  async receive(
    claimant: Claimant,
    { limit, wait_seconds: seconds }: z.output<typeof receiveToolSchema>,
  ): Promise<Received> {
    if (seconds === 0) return this.#claim(claimant, limit);
    const leave = this.#enter(claimant.key);
    const waiter: Waiter = {
      subscription: claimant.subscription,
      isRung: false,
      isOver: false,
      isDoubtful: false,
      wake: () => undefined,
    };
    // Before the first look: what comes while we look is not missed.
    this.#waiters.add(waiter);
    const over = this.#parts.clock.after(seconds * 1000, () => {
      waiter.isOver = true;
      ring(waiter);
    });
    const progress = this.#tellProgress(claimant);
    try {
      for (;;) {
        waiter.isRung = false;
        const { isOver } = waiter;
        await this.#checkToken(claimant, waiter);
        const received = await this.#claim(claimant, limit);
        if (received.count > 0 || isOver) return received;
        this.#lookAround();
        await rung(waiter, claimant.signal);
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
    for (const waiter of this.#waiters) ring(waiter);
    this.#looking?.cancel();
  }

  /** Resolves when all that was lost on its way out has been given back. */
  async settled(): Promise<void> {
    await Promise.all(this.#givingBack);
  }

  /** Not before every claim: the one who waits for it waits for this, too. */
  async #checkToken({ check, subscription }: Claimant, waiter: Waiter): Promise<void> {
    if (!waiter.isDoubtful && isActive(subscription, new Date(this.#parts.clock.now()))) return;
    waiter.isDoubtful = false;
    await check();
  }

  async #claim({ lost, signal, subscription }: Claimant, limit: number): Promise<Received> {
    if (this.#isDraining) throw new Refusal('restarting', 'the service restarts; ask again');
    signal.throwIfAborted();
    const received = await this.#parts.inbox.claim(subscription, { limit });
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
      .catch((error: unknown) => log.warn({ err: error }, 'lost messages stay claimed'))
      .finally(() => this.#givingBack.delete(givingBack));
    this.#givingBack.add(givingBack);
  }

  #enter(key: string): () => void {
    const { waitsPerToken } = this.#parts;
    const held = this.#held.get(key) ?? 0;
    if (held >= waitsPerToken) {
      observe({ kind: 'rate_limited', limit: 'waits' });
      throw new Refusal('rate_limited', `a token may wait ${waitsPerToken} times at once`, {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    this.#held.set(key, held + 1);
    return () => {
      const left = (this.#held.get(key) ?? 1) - 1;
      if (left > 0) this.#held.set(key, left);
      else this.#held.delete(key);
    };
  }

  #tellProgress({ onProgress }: Claimant): Timer {
    let seconds = 0;
    const next = (): Timer =>
      this.#parts.clock.after(PROGRESS_EVERY_MS, () => {
        seconds += PROGRESS_EVERY_MS / 1000;
        timer = next();
        onProgress(seconds);
      });
    let timer = next();
    return { cancel: () => timer.cancel() };
  }

  /** One question a second for all who wait. */
  #lookAround(): void {
    if (this.#looking !== undefined || this.#isDraining) return;
    this.#looking = this.#parts.clock.after(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { inbox, log } = this.#parts;
    try {
      const ids = [...new Set([...this.#waiters].map(({ subscription }) => subscription.id))];
      const filled = ids.length === 0 ? new Set() : new Set(await inbox.filled(ids));
      for (const waiter of this.#waiters) if (filled.has(waiter.subscription.id)) ring(waiter);
    } catch (error) {
      log.warn({ err: error }, 'whether messages came is not known');
    }
    this.#looking = undefined;
    if (this.#waiters.size > 0) this.#lookAround();
  }
}

function ring(waiter: Waiter): void {
  waiter.isRung = true;
  waiter.wake();
}

/** Resolves when it has been rung; rejects when the signal is aborted first. */
function rung(waiter: Waiter, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    waiter.wake = () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    };
    if (waiter.isRung) waiter.wake();
  });
}
