// A lock with any number of holders, and tasks that wait until there is no holder.

export class SharedLock {
  #holders = 0;
  #waiting: (() => void)[] = [];

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Takes the lock until the returned function is called. Further calls of that function have no effect. */
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

  /** Resolves when there is no holder. */
  async untilFree(): Promise<void> {
    while (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
