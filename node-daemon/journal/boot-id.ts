// The identity of this boot of the system. Records written before a kill are there after it; after a power cut they may be missing.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** proc(5): the kernel makes a new one at each boot. */
const BOOT_ID_PATH = '/proc/sys/kernel/random/boot_id';

/** Stays equal as long as the system runs. Where the system does not provide it, each call returns a new one. */
export function readBootId(): string {
  try {
    return readFileSync(BOOT_ID_PATH, 'utf8').trim();
  } catch {
    return randomUUID();
  }
}
