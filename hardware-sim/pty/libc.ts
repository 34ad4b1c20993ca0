// The calls of the C library that make pseudo-terminals and pipes, and that watch files. The only file with koffi.
import { constants, openSync } from 'node:fs';
import koffi from 'koffi';

/** glibc's flag, equal on x64 and arm64: a child process must not keep an unplugged modem's line open. */
const O_CLOEXEC = 0o2000000;
/** asm-generic/fcntl.h. */
const IN_NONBLOCK = 0o4000;
/** asm-generic/ioctls.h: lets others open the terminal again. */
const TIOCNXCL = 0x540d;
/** ioctls: the number of octets that wait to be read, and dropping them. */
const FIONREAD = 0x541b;
const TCFLSH = 0x540b;
const TCIFLUSH = 0;
/** fcntl(2). */
const F_SETPIPE_SZ = 1031;
const FIFO_MODE = 0o600;
const TCSANOW = 0;
/** struct termios is 60 octets on x64 and arm64. Only libc reads it, so the buffer has room for a larger one. */
const TERMIOS_BYTES_MAX = 256;
const PATH_BYTES_MAX = 128;

/** The system gave no pseudo-terminal; the message names the call. */
class PtyError extends Error {
  override name = 'PtyError';
}

/** File descriptors of a pseudo-terminal. */
export interface PtyPair {
  /** Non-blocking. */
  master: number;
  /** Held open, or reading the master fails with EIO while no client has the terminal open. */
  slave: number;
}

type Libc = ReturnType<typeof loadLibc>;
let libc: Libc | undefined;

function loadLibc() {
  if (process.platform !== 'linux') throw new PtyError('the simulated modems need Linux pseudo-terminals');
  const library = koffi.load('libc.so.6');
  return {
    openpt: library.func('int posix_openpt(int flags)'),
    grantpt: library.func('int grantpt(int fd)'),
    unlockpt: library.func('int unlockpt(int fd)'),
    ptsname: library.func('int ptsname_r(int fd, _Out_ uint8_t *buffer, size_t size)'),
    tcgetattr: library.func('int tcgetattr(int fd, _Out_ uint8_t *termios)'),
    cfmakeraw: library.func('void cfmakeraw(_Inout_ uint8_t *termios)'),
    tcsetattr: library.func('int tcsetattr(int fd, int action, _In_ uint8_t *termios)'),
    ioctl: library.func('int ioctl(int fd, unsigned long request, ...)'),
    fcntl: library.func('int fcntl(int fd, int command, ...)'),
    inotifyInit: library.func('int inotify_init1(int flags)'),
    addWatch: library.func('int inotify_add_watch(int fd, const char *path, uint32_t mask)'),
    mkfifo: library.func('int mkfifo(const char *path, unsigned int mode)'),
    close: library.func('int close(int fd)'),
  };
}

/** Opens a pair in raw mode: a fresh one would echo the modem's answers back to the modem. Throws `PtyError`. */
export function openPty(): PtyPair {
  libc ??= loadLibc();
  const { O_RDWR, O_NOCTTY, O_NONBLOCK } = constants;
  const master = checked('posix_openpt', libc.openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  try {
    checked('grantpt', libc.grantpt(master));
    checked('unlockpt', libc.unlockpt(master));
    const path = Buffer.alloc(PATH_BYTES_MAX);
    checked('ptsname_r', libc.ptsname(master, path, path.length));
    makeRaw(libc, master);
    const slavePath = path.toString('latin1', 0, path.indexOf(0));
    return { master, slave: openSync(slavePath, O_RDWR | O_NOCTTY) };
  } catch (cause) {
    libc.close(master);
    throw cause;
  }
}

/** On a master these calls act on the slave's settings (ioctl_tty(2)). */
function makeRaw({ tcgetattr, cfmakeraw, tcsetattr }: Libc, master: number): void {
  const termios = Buffer.alloc(TERMIOS_BYTES_MAX);
  checked('tcgetattr', tcgetattr(master, termios));
  cfmakeraw(termios);
  checked('tcsetattr', tcsetattr(master, TCSANOW, termios));
}

/**
 * Clears a client's TIOCEXCL. The flag lasts until the last close, and the simulator holds the slave open.
 * Without this, only root could open the port a second time.
 */
export function endExclusiveUse(slave: number): void {
  libc?.ioctl(slave, TIOCNXCL);
}

/** Octets that wait at the reading side of a terminal or a pipe. */
export function unreadBytes(file: number): number {
  libc ??= loadLibc();
  const count = new Int32Array(1);
  libc.ioctl(file, FIONREAD, 'int *', count);
  return count[0] ?? 0;
}

/** Drops the octets that wait to be read from a terminal. */
export function discardUnread(slave: number): void {
  libc?.ioctl(slave, TCFLSH, 'int', TCIFLUSH);
}

/** A non-blocking inotify(7) file for events of `mask` at these paths. Throws `PtyError`. */
export function watchPaths(paths: readonly string[], mask: number): number {
  libc ??= loadLibc();
  const file = checked('inotify_init1', libc.inotifyInit(IN_NONBLOCK | O_CLOEXEC));
  for (const path of paths) checked('inotify_add_watch', libc.addWatch(file, path, mask));
  return file;
}

/** Throws `PtyError`. */
export function makeFifo(path: string): void {
  libc ??= loadLibc();
  checked('mkfifo', libc.mkfifo(path, FIFO_MODE));
}

/** Throws `PtyError`. */
export function setPipeSize(file: number, bytes: number): void {
  libc ??= loadLibc();
  checked('fcntl', libc.fcntl(file, F_SETPIPE_SZ, 'int', bytes));
}

function checked(call: string, result: unknown): number {
  if (typeof result === 'number' && result >= 0) return result;
  throw new PtyError(`${call} failed with errno ${koffi.errno()}`);
}
