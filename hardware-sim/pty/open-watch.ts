// Detects that a program closes and opens a terminal. It uses inotify of the C library, since Node reports only writes.
import { closeSync, readSync } from 'node:fs';
import { watchPaths } from './libc.ts';

/** linux/inotify.h. */
const IN_CLOSE_WRITE = 0x08;
const IN_CLOSE_NOWRITE = 0x10;
const IN_OPEN = 0x20;
/** struct inotify_event: watch, mask, cookie and length, four octets each, then a name. */
const EVENT_BYTES = 16;
const MASK_OFFSET = 4;
const LENGTH_OFFSET = 12;
const BUFFER_BYTES = 4096;

/** Watches some terminals until `close`; the caller asks now and then. */
export class OpenWatch {
  readonly #fd: number;
  #wasClosed = false;

  /** Links are followed. Throws `PtyError`. */
  constructor(paths: readonly string[]) {
    this.#fd = watchPaths(paths, IN_CLOSE_WRITE | IN_CLOSE_NOWRITE | IN_OPEN);
  }

  /** Whether any of the terminals was closed and then one was opened since the watch began. */
  wasReopened(): boolean {
    for (const mask of this.#masks()) {
      if ((mask & IN_OPEN) !== 0 && this.#wasClosed) return true;
      if ((mask & (IN_CLOSE_WRITE | IN_CLOSE_NOWRITE)) !== 0) this.#wasClosed = true;
    }
    return false;
  }

  close(): void {
    closeSync(this.#fd);
  }

  #masks(): number[] {
    const buffer = Buffer.alloc(BUFFER_BYTES);
    const masks: number[] = [];
    const length = readNow(this.#fd, buffer);
    for (let position = 0; position + EVENT_BYTES <= length; ) {
      masks.push(buffer.readUInt32LE(position + MASK_OFFSET));
      position += EVENT_BYTES + buffer.readUInt32LE(position + LENGTH_OFFSET);
    }
    return masks;
  }
}

/** Octets that are there now, which may be none. */
function readNow(fd: number, buffer: Buffer): number {
  try {
    return readSync(fd, buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    throw error;
  }
}
