// The room on the disk of the journal: it raises an alarm before the disk refuses writes.
import { statfs } from 'node:fs/promises';
import type { Clock, Timer } from '#shared/clock.ts';

const MIB = 1024 * 1024;
/** With less than this the disk is nearly full. */
export const FREE_BYTES_GOOD = 512 * MIB;
export const FREE_FILES_GOOD = 1_000;
/** An alarm ends at an eighth more, so that it does not come and go at the limit. */
const MARGIN = 9 / 8;
const POLL_MS = 60_000;

/** Undefined where it is not known. */
export interface Room {
  readonly freeBytes: number | undefined;
  readonly freeFiles: number | undefined;
}

/** Never rejects. */
export async function readRoom(path: string): Promise<Room> {
  const free = await statfs(path).catch(() => undefined);
  return {
    freeBytes: free === undefined ? undefined : free.bavail * free.bsize,
    // File systems that create inodes on demand report 0 of 0.
    freeFiles: free === undefined || free.files === 0 ? undefined : free.ffree,
  };
}

interface DiskRoomParts {
  readonly clock: Clock;
  /** Must not reject. */
  readonly read: () => Promise<Room>;
  /** Called after `isScarce` has changed. */
  readonly onChange: () => void;
}

/** Reads the room once a minute. */
export class DiskRoom {
  readonly #parts: DiskRoomParts;
  #timer: Timer | undefined;
  #isScarce = false;
  #isStopped = false;

  constructor(parts: DiskRoomParts) {
    this.#parts = parts;
  }

  /** Whether the disk is nearly full. */
  get isScarce(): boolean {
    return this.#isScarce;
  }

  /** Reads at once. The next reading waits for the last one: a disk may hang. */
  async start(): Promise<void> {
    const { freeBytes = Infinity, freeFiles = Infinity } = await this.#parts.read();
    if (this.#isStopped) return;
    const factor = this.#isScarce ? MARGIN : 1;
    const isScarce = freeBytes < FREE_BYTES_GOOD * factor || freeFiles < FREE_FILES_GOOD * factor;
    const hasChanged = isScarce !== this.#isScarce;
    this.#isScarce = isScarce;
    this.#timer = this.#parts.clock.after(POLL_MS, () => void this.start());
    if (hasChanged) this.#parts.onChange();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }
}
