// Settings in the flash memory of a modem. They survive a restart, and some take effect only at the next one.

export class StoredSettings {
  readonly #stored = new Map<string, string>();
  #atStart: ReadonlyMap<string, string> = new Map();
  #writes = 0;

  /** Number of writes since the modem was made: flash memory wears out. */
  get writes(): number {
    return this.#writes;
  }

  /** The stored value; `undefined` as long as it is that of the factory. */
  get(name: string): string | undefined {
    return this.#stored.get(name);
  }

  /** The value that the modem started with. */
  inEffect(name: string): string | undefined {
    return this.#atStart.get(name);
  }

  /** All stored values whose names begin so, by name. */
  startingWith(prefix: string): [name: string, value: string][] {
    return [...this.#stored].filter(([name]) => name.startsWith(prefix)).sort();
  }

  set(name: string, value: string): void {
    this.#stored.set(name, value);
    this.#writes += 1;
  }

  delete(name: string): void {
    this.#stored.delete(name);
    this.#writes += 1;
  }

  /** The modem starts. `isLost`: with the settings of the factory. */
  start({ isLost }: { isLost: boolean }): void {
    if (isLost) this.#stored.clear();
    this.#atStart = new Map(this.#stored);
  }
}
