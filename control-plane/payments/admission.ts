// Does a few things at a time, in turns by client: a rush of one client must not delay the others.
import type { Clock, Timer } from '#shared/clock.ts';
import { Refusal } from '../domain/refusal.ts';

/** For payments on a chain, enough to keep the relayer busy, which signs one transaction after the other. */
const AT_ONCE = 4;

/** Those that wait for their turn. */
const WAITING_MAX = 256;

/** One waits as long as a payer waits for a block. An RPC that does not respond makes all wait. */
const WAIT_TIMEOUT_MS = 20_000;

/** The service counts how often a client asked in the last one to two of these times. Between lines of one length, that decides. */
const LATELY_MS = 60_000;

/** Names that are counted in such a time. A flood of more ends it early. */
const NAMES_MAX = 10_000;

const RETRY_AFTER_SECONDS = 5;

interface Waiting {
  admit(): void;
  refuse(): void;
  timer: Timer;
}

/** The names by which turns are taken: first by the first one; among those with the same first name by the second. */
type Names = readonly string[];

export class Admission {
  readonly #clock: Clock;
  readonly #message: string;
  readonly #line = new Line();
  readonly #asks: LateAsks;
  #underWay = 0;

  /** `message`: of the refusal when too many wait. */
  constructor(clock: Clock, message: string) {
    this.#clock = clock;
    this.#message = message;
    this.#asks = new LateAsks(clock);
  }

  /**
   * Settles as `work` does, once it is its turn. `names`: of the client, such as the network of its address. Throws `Refusal` `overloaded`
   * after a long wait, and when too many wait: then one of the client with the most, or with the most lately.
   */
  async run<T>(names: Names, work: () => Promise<T>): Promise<T> {
    this.#asks.count(names);
    if (this.#underWay < AT_ONCE) this.#underWay += 1;
    else await this.#turn(names);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  #turn(names: Names): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        waiting.timer.cancel();
        this.#line.delete(names, waiting);
      };
      const refuse = (): void => {
        end();
        reject(this.#overloaded());
      };
      const waiting: Waiting = {
        admit: () => {
          end();
          resolve();
        },
        refuse,
        timer: this.#clock.after(WAIT_TIMEOUT_MS, refuse),
      };
      this.#line.add(names, waiting);
      if (this.#line.size > WAITING_MAX) this.#line.mostOf(this.#asks)?.refuse();
    });
  }

  /** The next one takes the place. */
  #leave(): void {
    const next = this.#line.next(this.#asks);
    if (next === undefined) this.#underWay -= 1;
    else next.admit();
  }

  #overloaded(): Refusal {
    return new Refusal('overloaded', this.#message, {
      headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    });
  }
}

/** Those that wait: in a branch for each first name; without a name, one after the other. */
class Line {
  /** The one whose turn it is comes first, and none is empty. */
  readonly #branches = new Map<string, Line>();
  readonly #waiting = new Set<Waiting>();
  #prefersCalm = true;
  size = 0;

  add([name, ...others]: Names, waiting: Waiting): void {
    this.size += 1;
    if (name === undefined) {
      this.#waiting.add(waiting);
      return;
    }
    const branch = this.#branches.get(name) ?? new Line();
    this.#branches.set(name, branch);
    branch.add(others, waiting);
  }

  delete([name, ...others]: Names, waiting: Waiting): void {
    this.size -= 1;
    this.#waiting.delete(waiting);
    const branch = name === undefined ? undefined : this.#branches.get(name);
    if (name === undefined || branch === undefined) return;
    branch.delete(others, waiting);
    if (branch.size === 0) this.#branches.delete(name);
  }

  /**
   * The next one: in turns, that of the name with the fewest asks lately and that of the first name in line. A newcomer does not wait for
   * hundreds that come again and again, and none of these waits for newcomers only. Its branch goes to the end.
   */
  next(asks: LateAsks, names: Names = []): Waiting | undefined {
    const branches = this.#branchesOf(asks, names);
    const [first] = branches;
    if (first === undefined) return [...this.#waiting][0];
    const calmest = branches.reduce((one, other) => (other.asked < one.asked ? other : one));
    const { name, own, branch } = this.#prefersCalm ? calmest : first;
    this.#prefersCalm = !this.#prefersCalm;
    this.#branches.delete(name);
    this.#branches.set(name, branch);
    return branch.next(asks, own);
  }

  /** The newest one of the longest branch; among those of one length, of the name with the most asks lately. */
  mostOf(asks: LateAsks, names: Names = []): Waiting | undefined {
    const branches = this.#branchesOf(asks, names);
    if (branches.length === 0) return [...this.#waiting].at(-1);
    const most = branches.reduce((one, other) => {
      const more = other.branch.size - one.branch.size || other.asked - one.asked;
      return more > 0 ? other : one;
    });
    return most.branch.mostOf(asks, most.own);
  }

  #branchesOf(asks: LateAsks, names: Names) {
    return [...this.#branches].map(([name, branch]) => {
      const own = [...names, name];
      return { name, own, branch, asked: asks.of(own) };
    });
  }
}

/**
 * How often a name asked lately. Hundreds of clients that come again and again, one at a time, have lines as short as that of a newcomer:
 * this distinguishes them.
 */
class LateAsks {
  readonly #clock: Clock;
  #since: number;
  #present = new Map<string, number>();
  #before = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Counts one, for the first name and for each longer row of names. */
  count(names: Names): void {
    this.#forget();
    for (const depth of names.keys()) {
      const key = keyOf(names.slice(0, depth + 1));
      this.#present.set(key, (this.#present.get(key) ?? 0) + 1);
    }
  }

  of(names: Names): number {
    const key = keyOf(names);
    return (this.#present.get(key) ?? 0) + (this.#before.get(key) ?? 0);
  }

  #forget(): void {
    const now = this.#clock.now();
    const isOver = now - this.#since >= LATELY_MS || now < this.#since;
    if (!isOver && this.#present.size < NAMES_MAX) return;
    this.#before = this.#present;
    this.#present = new Map();
    this.#since = now;
  }
}

const keyOf = (names: Names): string => names.join(' ');

export const paymentAdmission = (clock: Clock): Admission =>
  // It may be the repeat of a payment that is in progress, so the message does not say that nothing was charged.
  new Admission(
    clock,
    'Too many payments are being checked. Send the same payment again. Do not sign another one.',
  );

/** For signatures of accounts with code: a key's signature needs no chain. */
export const signInAdmission = (clock: Clock): Admission =>
  new Admission(clock, 'Too many signatures of accounts are being checked. Try again with a new nonce.');
