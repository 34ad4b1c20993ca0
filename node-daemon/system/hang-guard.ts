// Keeps calls that may block for ever from taking all threads: the journal needs one to reach the disk.
import type { Clock } from '#shared/clock.ts';

/** A call did not end in time, or could not begin because too many others hang. */
class HangError extends Error {
  override name = 'HangError';
}

/** The subject of one call, and its time limit. */
interface GuardedCall<T> {
  /** Calls with the same key run one after the other: a thing that hangs has one thread at most. */
  readonly key: string;
  readonly timeoutMs: number;
  readonly run: () => Promise<T>;
  /** It must run, however late: it gives something back. Others are dropped when their time is over. */
  readonly mustRun?: boolean;
  /** Gets the result of a call that ended after its time, to release it. */
  readonly onLate?: (result: T) => void;
}

interface Waiting {
  readonly key: string;
  readonly begin: () => void;
}

/**
 * Runs calls that take a thread of libuv and may hang in the kernel: opening and closing serial ports,
 * writing to sysfs. Nothing ends such a call, so that only their number can be bounded.
 */
export class HangGuard {
  readonly #clock: Clock;
  readonly #runningMax: number;
  /** As many as there are ports: callers wait. Those that must run stay as long as the ports hang. */
  readonly #waiting = new Set<Waiting>();
  readonly #busyKeys = new Set<string>();
  #hanging = 0;

  /** At most `runningMax` calls are under way at the same time. */
  constructor(clock: Clock, runningMax: number) {
    this.#clock = clock;
    this.#runningMax = runningMax;
  }

  /** Calls that are under way although their time is over. */
  get hanging(): number {
    return this.#hanging;
  }

  /** True while hanging calls have all that may be under way. */
  get isExhausted(): boolean {
    return this.#hanging >= this.#runningMax;
  }

  /** Settles as the call does. Rejects with `HangError` after `timeoutMs`, the wait for its turn included. */
  call<T>(call: GuardedCall<T>): Promise<T> {
    const { key, timeoutMs, run, mustRun = false, onLate } = call;
    return new Promise<T>((resolve, reject) => {
      let isRunning = false;
      let isLate = false;
      const begin = (): void => {
        isRunning = true;
        if (isLate) this.#hanging += 1;
        run()
          .then((result) => (isLate ? onLate?.(result) : resolve(result)), reject)
          .finally(() => {
            timer.cancel();
            if (isLate) this.#hanging -= 1;
            this.#busyKeys.delete(key);
            this.#beginNext();
          });
      };
      const waiting = { key, begin };
      const timer = this.#clock.after(timeoutMs, () => {
        isLate = true;
        if (isRunning) this.#hanging += 1;
        else if (!mustRun) this.#waiting.delete(waiting);
        reject(
          new HangError(
            `${key}: ${isRunning ? 'no answer from the system' : 'waited for other calls that hang'} for ${timeoutMs} ms`,
          ),
        );
      });
      this.#waiting.add(waiting);
      this.#beginNext();
    });
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#busyKeys.size >= this.#runningMax) return;
      if (this.#busyKeys.has(waiting.key)) continue;
      this.#waiting.delete(waiting);
      this.#busyKeys.add(waiting.key);
      waiting.begin();
    }
  }
}
