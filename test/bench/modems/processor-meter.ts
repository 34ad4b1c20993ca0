// Measures a program's work in processor time, which other programs on the machine hardly change.
import { processorSeconds } from '../child.ts';
import type { Measurement } from '../report.ts';

export class ProcessorMeter {
  readonly #pid: number;
  readonly #rounds: number[] = [];

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Does the work, which is about `count` messages. */
  async round<T>(count: number, work: () => Promise<T>): Promise<T> {
    const before = processorSeconds(this.#pid);
    const result = await work();
    this.#rounds.push(((processorSeconds(this.#pid) - before) * 1000) / count);
    return result;
  }

  /** Milliseconds a message, of the last `rounds` rounds. */
  measurement(name: string, rounds: number, atMost: number): Measurement {
    return { name, rounds: this.#rounds.slice(-rounds), unit: 'ms of a core', target: { atMost } };
  }
}
