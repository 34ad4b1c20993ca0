// Counts the octets that a program has read. Octets that it was given and has not read wait in the kernel, which does not report them.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 20;
/** The daemon stops waiting for a program that reads more than its own files for so long. */
const SETTLE_TIMEOUT_MS = 500;

/** Returns how many octets a program has read since. */
type ReadOctets = () => number;

/**
 * Waits until the program of a process id has read its own files and waits for its input. Undefined where the kernel does not provide the
 * count (`/proc/<pid>/io`, proc(5)).
 */
export async function meterReads(pid: number | undefined): Promise<ReadOctets | undefined> {
  let last = readTotal(pid);
  for (let waitedMs = 0; waitedMs < SETTLE_TIMEOUT_MS; waitedMs += POLL_MS) {
    await pause(POLL_MS);
    const before = last;
    last = readTotal(pid);
    if (last === before) break;
  }
  const first = last;
  if (first === undefined) return undefined;
  // One that is gone has no file any more: nothing of what it did not read counts.
  return () => (readTotal(pid) ?? Number.POSITIVE_INFINITY) - first;
}

function readTotal(pid: number | undefined): number | undefined {
  try {
    const octets = /^rchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1];
    return octets === undefined ? undefined : Number(octets);
  } catch {
    return undefined;
  }
}
