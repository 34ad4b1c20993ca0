// Commands on the embedded database, one after the other: it belongs to one process at a time.
import { setTimeout as pause } from 'node:timers/promises';
import { FolderInUseError } from '#shared/process/single-instance.ts';

const WAIT_MS = 60_000;
const PAUSE_MS = 100;

/**
 * Returns the result of `open`. Retries while another process has the database: a command is over soon, and a service
 * that starts opens its socket soon. Throws `FolderInUseError` after a minute.
 */
export async function inTurn<T>(open: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof FolderInUseError) || performance.now() > deadlineMs) throw error;
    }
    await pause(PAUSE_MS);
  }
}
