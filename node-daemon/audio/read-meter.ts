// Counts the octets that a program has read. The kernel does not report how many octets still wait in the program's input.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 20;
/** The daemon stops waiting for a program that has not finished reading its own files by then. */
const SETTLE_TIMEOUT_MS = 500;

/** Returns the number of octets that the program has read since the start of the meter. */
type ReadOctets = () => number;

/**
 * Waits until the program with this process id has read its own files and waits for its input. Resolves with undefined if the kernel
 * does not provide the count (`/proc/<pid>/io`, proc(5)).
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
  // A program that has ended has no such file, so its unread octets do not count.
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
