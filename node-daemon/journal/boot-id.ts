// The identity of this boot of the system. Written records survive a kill of the process, but a power cut may lose them.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** The kernel creates a new id at each boot (proc(5)). */
const BOOT_ID_PATH = '/proc/sys/kernel/random/boot_id';

/** Returns an id that stays the same until the next boot. If the system does not provide one, each call returns a new id. */
export function readBootId(): string {
  try {
    return readFileSync(BOOT_ID_PATH, 'utf8').trim();
  } catch {
    return randomUUID();
  }
}
