// The workers of the daemon: the supervisor of each modem, the writer of the journal, the link.
import type { Journal } from '../journal/journal.ts';
import type { ControlLink } from '../link/control-link.ts';
import type { Rack } from '../modem/rack.ts';
import type { Worker } from './worker.ts';

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
