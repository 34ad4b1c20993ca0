// The parts of the daemon that work continuously, and the detection of those that hang. The watchdog of the service manager
// depends on them.
import type { Journal } from '../journal/journal.ts';
import type { ControlLink } from '../link/control-link.ts';
import type { Rack } from '../modem/rack.ts';

/** A part of the daemon that works continuously, step by step. */
export interface Worker {
  /** Name for the log. */
  readonly name: string;
  /** Grows with each step; undefined while it waits for an event that may never come, such as the return of an unplugged modem. */
  steps(): number | undefined;
  /** The worker hangs if it makes no step for this time. */
  readonly patienceMs: number;
}

/** Tracks the last step of each worker. */
export class HangDetector {
  readonly #workers: () => readonly Worker[];
  readonly #seen = new Map<string, { steps: number | undefined; unchangedMs: number }>();

  constructor(workers: () => readonly Worker[]) {
    this.#workers = workers;
  }

  /** Returns the names of the workers that hang. `elapsedMs`: the time since the last check, on a monotonic clock. */
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

/** The slowest command takes three minutes. Longer waits of the recovery do not count. */
const MODEM_PATIENCE_MS = 5 * 60_000;
/** A sync of a worn SD card takes a minute. */
const JOURNAL_PATIENCE_MS = 3 * 60_000;
/** A node that the control plane refused tries again after ten minutes. */
const LINK_PATIENCE_MS = 15 * 60_000;

interface WorkingParts {
  readonly rack: Pick<Rack, 'progress'>;
  readonly journal: Pick<Journal, 'isFailing' | 'steps'>;
  readonly link: Pick<ControlLink, 'steps'>;
}

/** Returns all current workers. */
export function daemonWorkers({ rack, journal, link }: WorkingParts): Worker[] {
  return [
    { name: 'journal', steps: () => journal.steps, patienceMs: JOURNAL_PATIENCE_MS },
    { name: 'link', steps: () => link.steps, patienceMs: LINK_PATIENCE_MS },
    ...rack.progress().map(({ name, steps }) => ({
      name: `modem ${name}`,
      // A restart does not help a modem that waits for a full disk.
      steps: () => (journal.isFailing ? undefined : steps),
      patienceMs: MODEM_PATIENCE_MS,
    })),
  ];
}
