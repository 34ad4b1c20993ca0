// A request that sleeps until what it waits for may have happened.
export class Waiter {
  #isRung = false;
  #wake: () => void = () => undefined;

  /** Wakes it; while it is awake, its next sleep ends at once. */
  ring(): void {
    this.#isRung = true;
    this.#wake();
  }

  /** Call it before each check: a ring during the check is not missed. */
  hasBegun(): void {
    this.#isRung = false;
  }

  /** Resolves when it is rung; rejects with the signal's reason when that aborts first. */
  rung(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(signal.reason);
      if (signal.aborted) {
        onAbort();
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      this.#wake = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      if (this.#isRung) this.#wake();
    });
  }
}
