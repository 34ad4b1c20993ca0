// The workers of the daemon: each modem's supervisor, the journal's writer, the link.
import type { Journal } from '../journal/journal.ts';
import type { ControlLink } from '../link/control-link.ts';
import type { Rack } from '../modem/rack.ts';
import type { Worker } from './worker.ts';

/** The slowest command has three minutes; recovery waits longer, and says so. */
const MODEM_PATIENCE_MS = 5 * 60_000;
/** A worn SD card takes a minute for a sync. */
const JOURNAL_PATIENCE_MS = 3 * 60_000;
/** A node that the control plane sent away comes back after ten minutes. */
const LINK_PATIENCE_MS = 15 * 60_000;

interface WorkingParts {
  readonly rack: Pick<Rack, 'progress'>;
  readonly journal: Pick<Journal, 'isFailing' | 'steps'>;
  readonly link: Pick<ControlLink, 'steps'>;
}

/** All of them, as they are now. */
export function daemonWorkers({ rack, journal, link }: WorkingParts): Worker[] {
  return [
    { name: 'journal', steps: () => journal.steps, patienceMs: JOURNAL_PATIENCE_MS },
    { name: 'link', steps: () => link.steps, patienceMs: LINK_PATIENCE_MS },
    ...rack.progress().map(({ name, steps }) => ({
      name: `modem ${name}`,
      // A restart does not help a modem that waits for a disk that refuses.
      steps: () => (journal.isFailing ? undefined : steps),
      patienceMs: MODEM_PATIENCE_MS,
    })),
  ];
}
