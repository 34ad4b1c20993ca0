// Reads disconnects of USB devices from the kernel log (Documentation/ABI/testing/dev-kmsg).
import { closeSync, constants, openSync, readSync } from 'node:fs';

/** Every record is shorter. */
const RECORD_BYTES_MAX = 8192;
/** The kernel's buffer contains fewer records. */
const RECORDS_MAX = 100_000;

const DISCONNECT = /^[^;]*;usb (\d+-\d+(?:\.\d+)*): USB disconnect/gm;

/** Returns the number of disconnects since the log began, by USB path. Empty if the log may not be read. Never throws. */
export function readDisconnects(path: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const record of recordsIn(path)) {
    for (const [, usbPath = ''] of record.matchAll(DISCONNECT)) {
      counts.set(usbPath, (counts.get(usbPath) ?? 0) + 1);
    }
  }
  return counts;
}

/** One read returns one record, or EAGAIN after the last. It never waits. */
function* recordsIn(path: string): Generator<string> {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const buffer = Buffer.alloc(RECORD_BYTES_MAX);
    for (let count = 0; count < RECORDS_MAX; count += 1) {
      const length = readOne(file, buffer);
      if (length === 0) return;
      if (length !== undefined) yield buffer.toString('latin1', 0, length);
    }
  } catch {
    // EAGAIN, or this user may not read the log.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Returns `undefined` if the kernel overwrote the record while it was read. */
function readOne(file: number, buffer: Buffer): number | undefined {
  try {
    return readSync(file, buffer, 0, buffer.length, null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return undefined;
    throw error;
  }
}
