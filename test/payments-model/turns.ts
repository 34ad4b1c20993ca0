// A process whose calls over its edge (chain, wallet, ledger, facilitator) happen one at a time, in an order that a seed repeats, and
// which can die before or after each of them.
import { setImmediate as macrotask } from 'node:timers/promises';

/** One life of the service's process. */
export interface Life {
  isDead: boolean;
  /** It dies when it has passed this many more points: one before and one after each call. */
  pointsLeft: number;
}

export const newLife = (): Life => ({ isDead: false, pointsLeft: Number.POSITIVE_INFINITY });

interface Waiting {
  life: Life;
  run: () => Promise<void>;
}

export class Turns {
  readonly #random: (below: number) => number;
  readonly #onDeath: (point: string) => void;
  #waiting: Waiting[] = [];

  constructor(random: (below: number) => number, onDeath: (point: string) => void) {
    this.#random = random;
    this.#onDeath = onDeath;
  }

  /** Does `work` when its turn comes, and nothing else meanwhile. Never settles once the life is over. */
  call<T>(life: Life, point: string, work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async (): Promise<void> => {
        if (this.#dies(life, `${point} before`)) return;
        try {
          const value = await work();
          if (!this.#dies(life, `${point} after`)) resolve(value);
        } catch (error) {
          if (!this.#dies(life, `${point} after`)) reject(error);
        }
      };
      if (!life.isDead) this.#waiting.push({ life, run });
    });
  }

  /** Ends a life here and now. */
  end(life: Life, point: string): void {
    if (life.isDead) return;
    life.isDead = true;
    this.#waiting = this.#waiting.filter((waiting) => waiting.life !== life);
    this.#onDeath(point);
  }

  /** Lets one call happen. False when none waits. */
  async next(): Promise<boolean> {
    await macrotask();
    if (this.#waiting.length === 0) return false;
    const [chosen] = this.#waiting.splice(this.#random(this.#waiting.length), 1);
    await chosen?.run();
    // Work that follows from it without another call is done after this.
    await macrotask();
    return true;
  }

  /** Lets at most `turns` calls happen. */
  async some(turns: number): Promise<void> {
    for (let turn = 0; turn < turns; turn += 1) if (!(await this.next())) return;
  }

  #dies(life: Life, point: string): boolean {
    if (life.isDead) return true;
    life.pointsLeft -= 1;
    if (life.pointsLeft > 0) return false;
    this.end(life, point);
    return true;
  }
}
