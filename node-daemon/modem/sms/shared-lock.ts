// Something waits while others hold it up, however many they are.

export class SharedLock {
  #holders = 0;
  #waiting: (() => void)[] = [];

  /** Holds up until the returned function is called, once or more often. */
  take(): () => void {
    let isHeld = true;
    this.#holders += 1;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holders -= 1;
      if (this.#holders > 0) return;
      for (const resolve of this.#waiting.splice(0)) resolve();
    };
  }

  /** Resolves while there is no holder. */
  async ended(): Promise<void> {
    while (this.#holders > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
