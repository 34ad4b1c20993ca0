// Time as a dependency: programs use the system clock, tests use one that they move by hand.

/** A pending timer. `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `callback` once, `delayMs` from now. */
  after(delayMs: number, callback: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    const timeout = setTimeout(callback, delayMs);
    return { cancel: () => clearTimeout(timeout) };
  },
};

/** Resolves after `delayMs`; rejects with the signal's reason when it is aborted first. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Settles as `promise` does, or rejects with `onTimeout()` after `timeoutMs`. */
export function withTimeout<T>(
  clock: Clock,
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(timeoutMs, () => reject(onTimeout()));
    promise.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** Runs `work` with a signal that is aborted after `timeoutMs`, as that of `AbortSignal.timeout`. Settles as `work` does. */
export async function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort(new DOMException('timed out', 'TimeoutError')));
  try {
    return await work(late.signal);
  } finally {
    timer.cancel();
  }
}

/** Calls `callback` every `intervalMs` until the timer is cancelled. */
export function every(clock: Clock, intervalMs: number, callback: () => void): Timer {
  const beat = (): void => {
    timer = clock.after(intervalMs, beat);
    callback();
  };
  let timer = clock.after(intervalMs, beat);
  return { cancel: () => timer.cancel() };
}
