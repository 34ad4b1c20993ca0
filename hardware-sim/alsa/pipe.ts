// A named pipe that we hold open at both ends, so that programs at the other end neither wait to open it nor see its end.
import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { makeFifo, setPipeSize, unreadBytes } from '../pty/libc.ts';

/** Least that Linux gives, of which 320 octets are 250 ms: more would hide more of what waits. */
const PIPE_BYTES = 4096;

/** Made by its constructor, gone after `remove`. */
export class Pipe {
  readonly path: string;
  readonly #file: number;

  /** Throws `PtyError` or a file system error. */
  constructor(path: string) {
    this.path = path;
    rmSync(path, { force: true });
    makeFifo(path);
    this.#file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    setPipeSize(this.#file, PIPE_BYTES);
  }

  unreadBytes(): number {
    return unreadBytes(this.#file);
  }

  /** All or nothing, as pipe(7) has it for so few octets. */
  writeAll(bytes: Buffer): boolean {
    return this.#unlessFull(() => writeSync(this.#file, bytes)) !== undefined;
  }

  read(bytesMax: number): Buffer {
    const bytes = Buffer.allocUnsafe(bytesMax);
    const count = this.#unlessFull(() => readSync(this.#file, bytes)) ?? 0;
    return bytes.subarray(0, count);
  }

  remove(): void {
    rmSync(this.path, { force: true });
    closeSync(this.#file);
  }

  #unlessFull(step: () => number): number | undefined {
    try {
      return step();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
      throw error;
    }
  }
}
