// One port of a modem: a pseudo-terminal under its links, read by events, written without ever blocking.
import { closeSync, renameSync, rmSync, symlinkSync, writeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { discardUnread, endExclusiveUse, openPty, type PtyPair, unreadBytes } from './libc.ts';

/** Room for a list of a full 255-slot store (about 100 KB). Beyond it the oldest bytes go. */
const QUEUE_BYTES_MAX = 256 * 1024;
/**
 * The kernel holds about 14 KB for a reader. Retries begin fast, for a busy reader, and become rare without one.
 */
const RETRY_DELAY_MIN_MS = 2;
const RETRY_DELAY_MAX_MS = 250;

interface PtyPortOptions {
  /** Where the links to the terminal go; older ones are replaced. */
  linkPaths: readonly string[];
  clock: Clock;
  log: Logger;
  onBytes: (bytes: Buffer) => void;
}

/** A port that is open until `close`. */
export class PtyPort {
  readonly linkPaths: readonly string[];
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #pair: PtyPair;
  readonly #stream: ReadStream;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  #retryDelayMs = RETRY_DELAY_MIN_MS;
  #retry: Timer | undefined;
  #droppedBytes = 0;
  #isClosed = false;

  /** Opens the terminal and makes the links. Throws `PtyError` or a file system error. */
  constructor(options: PtyPortOptions) {
    this.linkPaths = options.linkPaths;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#pair = openPty();
    this.#stream = new ReadStream(this.#pair.master);
    this.#stream.on('data', (bytes: Buffer) => this.#onBytes(bytes, options.onBytes));
    this.#stream.on('error', (error) => this.#log.warn({ err: error }, 'port failed'));
    try {
      for (const linkPath of this.linkPaths) linkAtomically(pathThroughUs(this.#pair.slave), linkPath);
    } catch (cause) {
      this.close();
      throw cause;
    }
  }

  /** Bytes dropped because no client read them. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Queues and writes what the terminal takes now. Never blocks; does nothing after `close`. */
  write(bytes: Buffer): void {
    if (this.#isClosed || bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#retry === undefined) this.#flush();
    this.#dropOldest();
  }

  /**
   * Writes data that is useless when it is late. Returns false and writes nothing when the terminal has no room.
   * If the terminal accepts only a part, the rest goes through the queue.
   */
  writeAll(bytes: Buffer): boolean {
    if (this.#isClosed || this.#retry !== undefined) return false;
    const written = this.#writeNow(bytes);
    if (written > 0 && written < bytes.length) this.write(bytes.subarray(written));
    return written > 0;
  }

  /** Octets that no client has read yet. */
  unreadBytes(): number {
    return this.#isClosed ? 0 : unreadBytes(this.#pair.slave);
  }

  /** Clients read what comes from now on. */
  discardUnread(): void {
    if (!this.#isClosed) discardUnread(this.#pair.slave);
  }

  /** Switches reading on or off. While it is off, the octets of clients stay in the terminal. */
  setReading(isReading: boolean): void {
    if (this.#isClosed) return;
    if (isReading) this.#stream.resume();
    else this.#stream.pause();
  }

  /** Lets a next client open the terminal after one that asked for exclusive use. */
  endExclusiveUse(): void {
    if (!this.#isClosed) endExclusiveUse(this.#pair.slave);
  }

  /** Hangs up all clients of the terminal and removes the links. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#queue = [];
    for (const linkPath of this.linkPaths) rmSync(linkPath, { force: true });
    this.#stream.destroy();
    closeSync(this.#pair.slave);
  }

  #onBytes(bytes: Buffer, deliver: (bytes: Buffer) => void): void {
    if (this.#isClosed) return;
    this.endExclusiveUse();
    // A client that writes most likely reads again.
    if (this.#retry !== undefined) this.#flush();
    deliver(bytes);
  }

  #flush(): void {
    this.#retry?.cancel();
    this.#retry = undefined;
    for (let head = this.#queue[0]; head !== undefined; head = this.#queue[0]) {
      const written = this.#writeNow(head);
      if (written === 0) {
        this.#retryLater();
        return;
      }
      this.#retryDelayMs = RETRY_DELAY_MIN_MS;
      this.#queuedBytes -= written;
      if (written === head.length) this.#queue.shift();
      else this.#queue[0] = head.subarray(written);
    }
  }

  /** Bytes that were taken; the master is non-blocking, so this returns at once. */
  #writeNow(bytes: Buffer): number {
    try {
      return writeSync(this.#pair.master, bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      this.#log.warn({ err: error }, 'port failed');
      return bytes.length;
    }
  }

  #retryLater(): void {
    this.#retry = this.#clock.after(this.#retryDelayMs, () => this.#flush());
    this.#retryDelayMs = Math.min(this.#retryDelayMs * 2, RETRY_DELAY_MAX_MS);
  }

  #dropOldest(): void {
    while (this.#queuedBytes > QUEUE_BYTES_MAX) {
      const dropped = this.#queue.shift();
      if (dropped === undefined) return;
      this.#queuedBytes -= dropped.length;
      this.#droppedBytes += dropped.length;
    }
  }
}

/**
 * A path to an open file that ends with this process (proc(5)): the system gives the number of a killed
 * simulator's terminal to the next one, and a client that comes back would find a modem of another rack.
 */
function pathThroughUs(file: number): string {
  return `/proc/${process.pid}/fd/${file}`;
}

/** A reader of the link sees the old terminal or the new one, never none. */
function linkAtomically(target: string, linkPath: string): void {
  const temporary = `${linkPath}.new`;
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, linkPath);
}
