// Bounds the requests that are open at a time: per holder, and for the whole instance. Receivers that are slow or dead share slots of their
// own, so that they never wait in front of prompt ones.
import { KeyedCount } from '#shared/keyed-count.ts';

interface SlotBounds {
  ofHolder: number;
  prompt: number;
  slow: number;
}

type Kind = 'prompt' | 'slow';

interface Waiter {
  holder: string;
  kind: Kind;
  enter(release: () => void): void;
}

export class Slots {
  readonly #bounds: SlotBounds;
  readonly #used: Record<Kind, number> = { prompt: 0, slow: 0 };
  readonly #ofHolder = new KeyedCount();
  /** As many as there are queues at most. */
  #waiting: Waiter[] = [];

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** Taken slots. */
  get size(): number {
    return this.#used.prompt + this.#used.slow;
  }

  /** Returns the function that gives the slot back; undefined if none is free. */
  takeFree(holder: string, kind: Kind): (() => void) | undefined {
    let release: (() => void) | undefined;
    const waiter = {
      holder,
      kind,
      enter: (leave: () => void) => {
        release = leave;
      },
    };
    if (this.#isFree(waiter)) this.#enter(waiter);
    return release;
  }

  /** Resolves with the function that gives the slot back. */
  take(holder: string, kind: Kind): Promise<() => void> {
    return new Promise((enter) => {
      const waiter = { holder, kind, enter };
      if (this.#isFree(waiter)) this.#enter(waiter);
      else this.#waiting.push(waiter);
    });
  }

  #isFree({ holder, kind }: Waiter): boolean {
    return this.#used[kind] < this.#bounds[kind] && this.#ofHolder.of(holder) < this.#bounds.ofHolder;
  }

  #enter({ enter, holder, kind }: Waiter): void {
    this.#used[kind] += 1;
    const leave = this.#ofHolder.take(holder);
    let isTaken = true;
    enter(() => {
      if (!isTaken) return;
      isTaken = false;
      leave();
      this.#used[kind] -= 1;
      this.#enterNext();
    });
  }

  #enterNext(): void {
    const next = this.#waiting.findIndex((waiter) => this.#isFree(waiter));
    const [waiter] = next < 0 ? [] : this.#waiting.splice(next, 1);
    if (waiter !== undefined) this.#enter(waiter);
  }
}
