// A named pipe that the simulator holds open at both ends. Programs open it without waiting, and never read its end.
import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { makeFifo, setPipeSize, unreadBytes } from '../pty/libc.ts';

/** The smallest size that Linux offers. It holds 250 ms of samples; a larger pipe would add delay. */
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

  /** Writes all octets or none: pipe(7) guarantees it for so few. */
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
