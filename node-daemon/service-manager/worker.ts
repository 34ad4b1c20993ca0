// The parts of the daemon that work for as long as it runs. The service manager's watchdog depends on them.

/** A part of the daemon that goes on by itself, step by step. */
export interface Worker {
  /** For the log. */
  readonly name: string;
  /** Grows with each step; undefined while it waits for an event that may never come, such as an unplugged modem coming back. */
  steps(): number | undefined;
  /** Without a step for so long it stands still. */
  readonly patienceMs: number;
}

/** Remembers when each worker was last seen to go on. */
export class StandstillWatch {
  readonly #workers: () => readonly Worker[];
  readonly #seen = new Map<string, { steps: number | undefined; unchangedMs: number }>();

  constructor(workers: () => readonly Worker[]) {
    this.#workers = workers;
  }

  /** The names of the workers that stand still. `elapsedMs` is the time since the last check, on a monotonic clock. */
  check(elapsedMs: number): string[] {
    const workers = this.#workers();
    const names = new Set(workers.map(({ name }) => name));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    return workers.flatMap((worker) => (this.#isStill(worker, elapsedMs) ? [worker.name] : []));
  }

  #isStill({ name, patienceMs, steps: count }: Worker, elapsedMs: number): boolean {
    const steps = count();
    const before = this.#seen.get(name);
    const hasMoved = steps === undefined || before === undefined || before.steps !== steps;
    const unchangedMs = hasMoved ? 0 : before.unchangedMs + elapsedMs;
    this.#seen.set(name, { steps, unchangedMs });
    return unchangedMs >= patienceMs;
  }
}
