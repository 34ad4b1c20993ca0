// Checks a few payments at a time: a rush of payers must not delay every other request.
import type { Clock, Timer } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';

/** Enough to keep the relayer busy, which signs one transaction after the other. */
const AT_ONCE = 4;

/** Payments that wait for their check. */
const WAITING_MAX = 256;

/** A payment waits as long as a payer waits for a block. An RPC that does not respond makes all wait. */
const WAIT_TIMEOUT_MS = 20_000;

const RETRY_AFTER_SECONDS = 5;

interface Waiting {
  admit(): void;
  timer: Timer;
}

export class Admission {
  readonly #clock: Clock;
  #underWay = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Settles as `work` does, once it is its turn. Throws `Refusal` `overloaded` when too many wait, and after a long wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#underWay < AT_ONCE) this.#underWay += 1;
    else await this.#turn();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.size >= WAITING_MAX) throw overloaded();
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        admit: resolve,
        timer: this.#clock.after(WAIT_TIMEOUT_MS, () => {
          this.#waiting.delete(waiting);
          reject(overloaded());
        }),
      };
      this.#waiting.add(waiting);
    });
  }

  /** The next one takes the place. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#underWay -= 1;
      return;
    }
    this.#waiting.delete(next);
    next.timer.cancel();
    next.admit();
  }
}

const overloaded = (): Refusal =>
  // It may be the repeat of a payment that is in progress, so it does not say that nothing was charged.
  new Refusal(
    'overloaded',
    'Too many payments are being checked. Send the same payment again. Do not sign another one.',
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
  );
