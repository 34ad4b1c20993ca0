// Checks a few payments at a time, in turns by client: a rush of one client's payments must not delay those of others.
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
  refuse(): void;
  timer: Timer;
}

export class Admission {
  readonly #clock: Clock;
  #underWay = 0;
  /** By client; the one whose turn it is comes first, and none is empty. */
  readonly #waiting = new Map<string, Set<Waiting>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Settles as `work` does, once it is its turn. `client`: the network of its address. Throws `Refusal` `overloaded` after a long wait, and
   * when too many wait: then a payment of the client with the most.
   */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#underWay < AT_ONCE) this.#underWay += 1;
    else await this.#turn(client);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #turn(client: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        waiting.timer.cancel();
        const own = this.#waiting.get(client);
        own?.delete(waiting);
        if (own?.size === 0) this.#waiting.delete(client);
      };
      const refuse = (): void => {
        end();
        reject(overloaded());
      };
      const waiting: Waiting = {
        admit: () => {
          end();
          resolve();
        },
        refuse,
        timer: this.#clock.after(WAIT_TIMEOUT_MS, refuse),
      };
      const own = this.#waiting.get(client) ?? new Set();
      this.#waiting.set(client, own.add(waiting));
      this.#refuseBeyond();
    });
  }

  #refuseBeyond(): void {
    const queues = [...this.#waiting.values()];
    const total = queues.reduce((sum, { size }) => sum + size, 0);
    if (total <= WAITING_MAX) return;
    const longest = queues.reduce((most, queue) => (queue.size >= most.size ? queue : most));
    [...longest].at(-1)?.refuse();
  }

  /** The next client takes the place, and then goes to the end of the line. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#underWay -= 1;
      return;
    }
    const [client, queue] = next;
    this.#waiting.delete(client);
    this.#waiting.set(client, queue);
    const [waiting] = queue;
    waiting?.admit();
  }
}

const overloaded = (): Refusal =>
  // It may be the repeat of a payment that is in progress, so it does not say that nothing was charged.
  new Refusal(
    'overloaded',
    'Too many payments are being checked. Send the same payment again. Do not sign another one.',
    { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
  );
