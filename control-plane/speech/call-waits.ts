// Tools that wait for a call to ring.
import type { Clock } from '#shared/clock.ts';
import type { Bus } from '../bus/bus.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Database } from '../store/database/database.ts';
import { type CallRow, findRinging } from '../store/messages/calls.ts';
import type { LiveCalls } from '../voice/live-calls.ts';
import type { WaitPlaces } from '../waits/wait-places.ts';
import { Waiter } from '../waits/waiter.ts';

/** Events of other instances may get lost, so the store is read again; clients that wait expect a sign of life every 10 s. */
const POLL_EVERY_MS = 5_000;

interface CallWaitsParts {
  db: Database;
  bus: Bus;
  clock: Clock;
  live: LiveCalls;
  places: WaitPlaces;
}

interface Waiting {
  subscriptionId: string;
  /** Identifies the token. */
  key: string;
  signal: AbortSignal;
  /** Throws `Refusal` `unauthorized` once the token is no longer valid. */
  check(): Promise<unknown>;
  onProgress(seconds: number): void;
}

export class CallWaits {
  readonly #parts: CallWaitsParts;
  /** With the id of the subscription. */
  readonly #waiters = new Map<Waiter, string>();
  #isDraining = false;

  constructor(parts: CallWaitsParts) {
    this.#parts = parts;
    parts.live.watch((call) => this.#onChanged(call));
    parts.bus.subscribe((event) => {
      if (event.kind === 'call_changed') this.#onChanged(event.call);
    });
  }

  /** A call that rings now, or the first one within `seconds`; undefined if none rang. Throws `Refusal`, and the signal's reason. */
  async wait(waiting: Waiting, seconds: number): Promise<CallRow | undefined> {
    const { clock } = this.#parts;
    const begunAtMs = clock.now();
    const endAtMs = begunAtMs + seconds * 1_000;
    const { key, signal, subscriptionId } = waiting;
    const leave = seconds === 0 ? undefined : this.#parts.places.take(key);
    const waiter = new Waiter();
    this.#waiters.set(waiter, subscriptionId);
    try {
      for (;;) {
        if (this.#isDraining)
          throw new Refusal('restarting', 'The service is restarting. Send the request again.');
        waiter.hasBegun();
        const call = await this.#ringing(subscriptionId);
        const leftMs = endAtMs - clock.now();
        if (call !== undefined || leftMs <= 0) {
          await waiting.check();
          return call;
        }
        const timer = clock.after(Math.min(POLL_EVERY_MS, leftMs), () => waiter.ring());
        await waiter.rung(signal).finally(() => timer.cancel());
        waiting.onProgress(Math.round((clock.now() - begunAtMs) / 1_000));
      }
    } finally {
      this.#waiters.delete(waiter);
      leave?.();
    }
  }

  /** Ends every wait with `restarting`, and refuses new ones. */
  drain(): void {
    this.#isDraining = true;
    for (const waiter of this.#waiters.keys()) waiter.ring();
  }

  async #ringing(subscriptionId: string): Promise<CallRow | undefined> {
    const { clock, db, live } = this.#parts;
    // Another stream or tool has begun to answer the others.
    const [here] = live
      .ringing(subscriptionId)
      .filter(({ callId }) => !this.#isTaken(callId, subscriptionId));
    if (here !== undefined) return here;
    const stored = await findRinging(db, subscriptionId, new Date(clock.now()));
    return stored.find(({ callId }) => live.find(callId, subscriptionId) === undefined);
  }

  #isTaken(callId: string, subscriptionId: string): boolean {
    const session = this.#parts.live.find(callId, subscriptionId);
    return session !== undefined && (session.hasStream || session.isEnding);
  }

  #onChanged({ direction, state, subscriptionId }: CallRow): void {
    if (direction !== 'inbound' || state !== 'ringing') return;
    for (const [waiter, id] of this.#waiters) if (id === subscriptionId) waiter.ring();
  }
}
