// A serial port: bytes in, bytes out, and a notification when it is gone. The only file that uses serialport.
import { accessSync, constants, readSync, statSync, writeSync } from 'node:fs';
import { LinuxBinding, type LinuxPortBinding } from '@serialport/bindings-cpp';
import { SerialPortStream } from '@serialport/stream';
import type { Clock, Timer } from '#shared/clock.ts';
import type { HangGuard } from '../system/hang-guard.ts';

/** Bytes to and from one modem. */
export interface Port {
  /** Sets the handler of received bytes, once, before the first byte matters. */
  onData(handler: (bytes: Uint8Array) => void): void;
  /** Sets the handler that is called once when the port is gone, or after `close`. */
  onClose(handler: (reason: Error) => void): void;
  /** Resolves when the system has accepted the bytes. Rejects if the port is gone or does not accept them. */
  write(bytes: Uint8Array): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Opens the port of a device path. Rejects with the system's error. */
export type OpenPort = (path: string) => Promise<Port>;

/** USB ports and PTYs ignore the rate; on real UARTs this is the modems' default. */
const BAUD_RATE = 115_200;
/** A healthy modem reads a line within milliseconds. One that does not read it in this time hangs. */
const WRITE_TIMEOUT_MS = 5_000;
const OPEN_TIMEOUT_MS = 10_000;
/** Closing takes milliseconds. The kernel gives up after 30 s, but the daemon does not wait that long. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Interval of checks for a device that disappeared without a hang-up. */
const NODE_CHECK_MS = 2_000;
/** AT lines are short. The default of 64 KiB would waste megabytes in a rack of modems. */
const READ_BUFFER_BYTES = 8 * 1024;
/** The value in uv.h. */
const UV_READABLE = 1;
const UV_WRITABLE = 2;

class DisconnectError extends Error {
  override name = 'DisconnectError';
  /** The property by which @serialport/stream recognizes this error. */
  readonly disconnect = true;
}

type SerialBinding = typeof LinuxBinding;

/** The parts of the process that serial ports use. */
interface SerialPortsParts {
  readonly clock: Clock;
  /** Opening and closing may hang in the kernel. */
  readonly guard: HangGuard;
}

/**
 * Opens serial devices raw, 8N1, and with a lock (flock) that keeps other programs out if they respect it. Opening rejects with the
 * system's error, such as ENOENT for a missing device, or with `HangError` if the system does not answer.
 */
export function serialPorts(parts: SerialPortsParts): OpenPort {
  return async (path) => {
    // Keeps the system's error code: the binding reports errors as text only.
    accessSync(path, constants.R_OK | constants.W_OK);
    const binding = guardedBinding(parts.guard);
    const stream = new SerialPortStream<SerialBinding>({
      binding,
      path,
      baudRate: BAUD_RATE,
      autoOpen: false,
      lock: true,
      highWaterMark: READ_BUFFER_BYTES,
    });
    await new Promise<void>((resolve, reject) => {
      stream.open((error) => (error === null ? resolve() : reject(error)));
    });
    return new SerialPort(stream, path, parts.clock);
  };
}

/**
 * A tty reports a hang-up as a read of 0 bytes. The binding of serialport treats that as "nothing yet" and reads again forever: it keeps a
 * whole core busy and never reports the hang-up. It also does not know that EIO means the same. Observed: @serialport/bindings-cpp 13, one
 * hang-up in five.
 *
 * Opening and closing have a time limit and a bounded number of threads. Writing does not: with O_NONBLOCK it never waits.
 */
function guardedBinding(guard: HangGuard): SerialBinding {
  return {
    list: LinuxBinding.list,
    open: (options) =>
      guard.call({
        key: options.path,
        timeoutMs: OPEN_TIMEOUT_MS,
        run: async () => wrapped(await LinuxBinding.open(options), options.path, guard),
        onLate: (binding) => void binding.close().catch(() => undefined),
      }),
  };
}

function wrapped(binding: LinuxPortBinding, path: string, guard: HangGuard): LinuxPortBinding {
  const close = binding.close.bind(binding);
  const write = binding.write.bind(binding);
  binding.write = async (buffer) => {
    const written = writeNow(binding, buffer);
    if (written < buffer.length) await write(buffer.subarray(written));
  };
  awaitBoth(binding);
  binding.read = (buffer, offset, length) => readUntilHangUp(binding, buffer, offset, length);
  binding.close = () =>
    guard.call({
      key: path,
      timeoutMs: CLOSE_TIMEOUT_MS,
      mustRun: true,
      async run() {
        // Otherwise the kernel waits half a minute for a dead device to accept the remaining bytes.
        await binding.flush().catch(() => undefined);
        await close();
      },
    });
  return binding;
}

/**
 * The binding's poller waits only for its last request. A write that waits for room would block all reads, and a read would block the
 * write.
 */
function awaitBoth({ poller }: LinuxPortBinding): void {
  const poll = poller.poll.bind(poller);
  poller.poll = (events = 0) => {
    const readable = poller.listenerCount('readable') > 0 ? UV_READABLE : 0;
    const writable = poller.listenerCount('writable') > 0 ? UV_WRITABLE : 0;
    poll(events | readable | writable);
  };
}

/** The port is opened with O_NONBLOCK, so reads and writes do not need the thread pool. */
async function readUntilHangUp(
  binding: LinuxPortBinding,
  buffer: Buffer,
  offset: number,
  length: number,
): Promise<{ buffer: Buffer; bytesRead: number }> {
  for (;;) {
    await readable(binding);
    const bytesRead = readNow(binding, buffer, offset, length);
    if (bytesRead === 0) throw new DisconnectError('the modem hung up');
    if (bytesRead !== undefined) return { buffer, bytesRead };
  }
}

function readable(binding: LinuxPortBinding): Promise<void> {
  return new Promise((resolve, reject) => {
    binding.poller.once('readable', (error: (Error & { canceled?: boolean }) | null) => {
      if (error === null) resolve();
      else if (error.canceled) reject(error);
      else reject(new DisconnectError(`the port failed: ${error.message}`, { cause: error }));
    });
  });
}

/** Returns `undefined` if there was nothing to read. */
function readNow(
  binding: LinuxPortBinding,
  buffer: Buffer,
  offset: number,
  length: number,
): number | undefined {
  if (binding.fd === null) throw new DisconnectError('the port is closed');
  try {
    return readSync(binding.fd, buffer, offset, length, null);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'EINTR') return undefined;
    throw new DisconnectError(`the port failed: ${code ?? String(cause)}`, { cause });
  }
}

/** Returns the number of accepted octets. */
function writeNow(binding: LinuxPortBinding, buffer: Uint8Array): number {
  if (binding.fd === null) throw new DisconnectError('the port is closed');
  try {
    return writeSync(binding.fd, buffer);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'EINTR') return 0;
    throw new DisconnectError(`the port failed: ${code ?? String(cause)}`, { cause });
  }
}

class SerialPort implements Port {
  readonly #stream: SerialPortStream<SerialBinding>;
  readonly #clock: Clock;
  readonly #path: string;
  readonly #node: string;
  #check: Timer | undefined;
  #onClose: ((reason: Error) => void) | undefined;
  #closed: Error | undefined;

  constructor(stream: SerialPortStream<SerialBinding>, path: string, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
    this.#path = path;
    this.#node = nodeAt(path);
    stream.on('close', (error: Error | null) => this.#gone(error ?? new Error('the port was closed')));
    stream.on('error', (error: Error) => this.#gone(error));
    this.#checkNode();
  }

  onData(handler: (bytes: Uint8Array) => void): void {
    this.#stream.on('data', handler);
  }

  onClose(handler: (reason: Error) => void): void {
    this.#onClose = handler;
    if (this.#closed !== undefined) handler(this.#closed);
  }

  write(bytes: Uint8Array): Promise<void> {
    // On a closed port the stream would keep the bytes for a later open and never call back.
    if (this.#closed !== undefined || !this.#stream.isOpen) {
      return Promise.reject(this.#closed ?? new Error('the port is closed'));
    }
    // A line nearly always fits into the port's buffer. Then it needs neither the stream's queue nor a timer.
    const written = this.#stream.writableLength === 0 ? this.#writeNow(bytes) : 0;
    if (written === bytes.length) return Promise.resolve();
    return this.#writeRest(bytes.subarray(written));
  }

  /** Returns the number of accepted octets; 0 if the port fails, which the stream then reports. */
  #writeNow(bytes: Uint8Array): number {
    const { port } = this.#stream;
    try {
      return port === undefined ? 0 : writeNow(port, bytes);
    } catch {
      return 0;
    }
  }

  #writeRest(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(WRITE_TIMEOUT_MS, () => {
        const error = new Error(`the port accepted no bytes for ${WRITE_TIMEOUT_MS} ms`);
        reject(error);
        this.#gone(error);
      });
      this.#stream.write(bytes, (error) => {
        timer.cancel();
        if (error) reject(error);
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#stream.isOpen) resolve();
      else this.#stream.close(() => resolve());
    });
  }

  /** Normally a hang-up reports a lost device. This check is for drivers and containers that do not report it. */
  #checkNode(): void {
    this.#check = this.#clock.after(NODE_CHECK_MS, () => {
      if (nodeAt(this.#path) === this.#node) this.#checkNode();
      else this.#gone(new Error('the device file is gone or belongs to another device'));
    });
  }

  #gone(reason: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    this.#check?.cancel();
    if (this.#stream.isOpen) this.#stream.close(() => undefined);
    this.#onClose?.(reason);
  }
}

/** Returns the identity of the device at a path. Device files are in kernel memory, so this is fast. */
function nodeAt(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.dev} ${stat.ino} ${stat.rdev}`;
}
