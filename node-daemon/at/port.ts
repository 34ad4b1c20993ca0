// A serial port: bytes in, bytes out, and the news that it is gone. The only file that knows serialport.
import { readSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { LinuxBinding, type LinuxOpenOptions, type LinuxPortBinding } from '@serialport/bindings-cpp';
import { SerialPortStream } from '@serialport/stream';

/** Bytes to and from one modem. */
export interface Port {
  /** Sets who gets the bytes. Set once, before the first byte matters. */
  onData(handler: (bytes: Uint8Array) => void): void;
  /** Sets who learns, once, that the port is gone; also after `close`. */
  onClose(handler: (reason: Error) => void): void;
  /** Resolves when the system has taken the bytes. Rejects when the port is gone or does not take them. */
  write(bytes: Uint8Array): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** Opens the port of a device path. Rejects with the system's error. */
export type OpenPort = (path: string) => Promise<Port>;

/** Any rate does for USB and PTYs; on real UARTs this is the modems' default. */
const BAUD_RATE = 115_200;
/** A healthy modem takes a line within milliseconds; one that holds it this long hangs. */
const WRITE_TIMEOUT_MS = 5_000;
const OPEN_TIMEOUT_MS = 10_000;
/** AT lines are short: the 64 KiB default would cost a rack of modems megabytes for nothing. */
const READ_BUFFER_BYTES = 8 * 1024;

class DisconnectError extends Error {
  override name = 'DisconnectError';
  /** What @serialport/stream looks for. */
  readonly disconnect = true;
}

/**
 * The stock binding takes a read of 0 bytes, which is how a tty says "hung up", for "nothing yet" and
 * reads again for ever: a whole core is busy and nobody learns of the hang-up. It also does not know
 * that EIO means the same. Observed: @serialport/bindings-cpp 13, one hang-up in five.
 */
const hangUpAwareBinding = {
  list: LinuxBinding.list,
  async open(options: LinuxOpenOptions): Promise<LinuxPortBinding> {
    const binding = await LinuxBinding.open(options);
    binding.read = (buffer, offset, length) => readUntilHangUp(binding, buffer, offset, length);
    return binding;
  },
};

/** The port is opened with O_NONBLOCK: reading right here, once it is readable, saves the thread pool. */
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

/** `undefined`: nothing there after all. */
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

/**
 * Opens a serial device for this process alone (TIOCEXCL and a lock), raw, 8N1.
 * Rejects with the system's error: ENOENT when the device is not there.
 */
export const openSerialPort: OpenPort = async (path) => {
  // Keeps the system's code: the binding's own errors are texts.
  await access(path, constants.R_OK | constants.W_OK);
  const stream = new SerialPortStream<typeof hangUpAwareBinding>({
    binding: hangUpAwareBinding,
    path,
    baudRate: BAUD_RATE,
    autoOpen: false,
    lock: true,
    highWaterMark: READ_BUFFER_BYTES,
  });
  await opened(stream, path);
  return new SerialPortAdapter(stream);
};

function opened(stream: SerialPortStream<typeof hangUpAwareBinding>, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timeout = setTimeout(() => {
      late = true;
      reject(new Error(`${path} does not open in ${OPEN_TIMEOUT_MS} ms`));
    }, OPEN_TIMEOUT_MS);
    stream.open((error) => {
      clearTimeout(timeout);
      if (late && error === null) stream.close();
      else if (error === null) resolve();
      else reject(error);
    });
  });
}

class SerialPortAdapter implements Port {
  readonly #stream: SerialPortStream<typeof hangUpAwareBinding>;
  #onClose: ((reason: Error) => void) | undefined;
  #closed: Error | undefined;

  constructor(stream: SerialPortStream<typeof hangUpAwareBinding>) {
    this.#stream = stream;
    stream.on('close', (error: Error | null) => this.#gone(error ?? new Error('the port was closed')));
    stream.on('error', (error: Error) => this.#gone(error));
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
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        const error = new Error(`the port takes no bytes for ${WRITE_TIMEOUT_MS} ms`);
        reject(error);
        this.#gone(error);
      }, WRITE_TIMEOUT_MS);
      this.#stream.write(bytes, (error) => {
        clearTimeout(timeout);
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

  #gone(reason: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    if (this.#stream.isOpen) this.#stream.close(() => undefined);
    this.#onClose?.(reason);
  }
}
