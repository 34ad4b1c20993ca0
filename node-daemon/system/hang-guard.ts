// Prevents system calls that may block forever from using all threads. The journal needs a thread to reach the disk.
import type { Clock } from '#shared/clock.ts';
import { threadPoolSize } from '#shared/process/thread-pool.ts';

/** Threads for the journal's disk, name look-ups and working ports. Hanging ports never get them. */
export const THREADS_KEPT = 3;

/** The guard of a process: it has one, as its threads are one pool. */
export const guardOfProcess = (clock: Clock): HangGuard =>
  new HangGuard(clock, Math.max(1, threadPoolSize() - THREADS_KEPT));

/** A call did not end in time, or could not begin because too many others hang. */
class HangError extends Error {
  override name = 'HangError';
}

/** The key and the time limit of one call. */
interface GuardedCall<T> {
  /** Calls with the same key run one after the other, so that a device that hangs uses at most one thread. */
  readonly key: string;
  readonly timeoutMs: number;
  readonly run: () => Promise<T>;
  /** Whether it must run even if it is late, because it releases something. Other calls are dropped when their time is over. */
  readonly mustRun?: boolean;
  /** Gets the result of a call that ended too late, to release it. */
  readonly onLate?: (result: T) => void;
}

interface Waiting {
  readonly key: string;
  readonly begin: () => void;
}

/**
 * Runs calls that use a thread of libuv and may hang in the kernel: opening and closing serial ports,
 * writing to sysfs. Such calls cannot be canceled, so this class limits their number.
 */
export class HangGuard {
  readonly #clock: Clock;
  readonly #runningMax: number;
  /** Waiting calls, at most about one for each port. Calls that must run stay here while the ports hang. */
  readonly #waiting = new Set<Waiting>();
  readonly #busyKeys = new Set<string>();
  #hanging = 0;

  /** At most `runningMax` calls run at the same time. */
  constructor(clock: Clock, runningMax: number) {
    this.#clock = clock;
    this.#runningMax = runningMax;
  }

  /** Number of calls that still run although their time is over. */
  get hanging(): number {
    return this.#hanging;
  }

  /** True while hanging calls use all threads of this guard. */
  get isExhausted(): boolean {
    return this.#hanging >= this.#runningMax;
  }

  /** Settles as the call does. Rejects with `HangError` after `timeoutMs`, including the wait for its turn. */
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
            `${key}: ${isRunning ? 'no answer from the kernel' : 'waited for other calls that hang'} for ${timeoutMs} ms`,
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
