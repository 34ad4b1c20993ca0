// The numbers of devices of one kind (ttyUSB, sound cards), given as a kernel gives them: the lowest that is free.

/** Numbers in use. */
export class DeviceNumbers {
  readonly #taken = new Set<number>();

  /** Lowest free numbers, ascending; not always in a row. */
  take(count: number): number[] {
    const numbers: number[] = [];
    for (let number = 0; numbers.length < count; number++) {
      if (this.#taken.has(number)) continue;
      this.#taken.add(number);
      numbers.push(number);
    }
    return numbers;
  }

  release(numbers: readonly number[]): void {
    for (const number of numbers) this.#taken.delete(number);
  }
}
