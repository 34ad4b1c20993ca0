// The named pipes of a sound card, which the simulator holds open at both ends: programs open them without waiting, and never
// read their end.
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
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
    let file: number | undefined;
    try {
      file = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      setPipeSize(file, PIPE_BYTES);
    } catch (cause) {
      rmSync(path, { force: true });
      if (file !== undefined) closeSync(file);
      throw cause;
    }
    this.#file = file;
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

const PROGRAMS = ['arecord', 'aplay'];

/** SIGTERM to each arecord and aplay that has one of the pipes open. Others are left alone. */
export function endUsersOf(paths: readonly string[]): void {
  for (const name of entriesOf('/proc')) {
    if (!/^\d+$/.test(name) || !PROGRAMS.includes(programOf(name))) continue;
    const files = entriesOf(`/proc/${name}/fd`).map((file) => targetOf(`/proc/${name}/fd/${file}`));
    if (!files.some((file) => paths.includes(file))) continue;
    try {
      process.kill(Number(name), 'SIGTERM');
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function programOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return '';
  }
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}
