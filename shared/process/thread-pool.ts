// The number of libuv's threads for calls that block: files, name lookups, serial ports.

/** libuv's own default, and its limit. */
const DEFAULT_THREADS = 4;
const THREADS_MAX = 1024;

/** The size that the process was started with; it cannot be changed from within. */
export function threadPoolSize(): number {
  const size = Number.parseInt(process.env['UV_THREADPOOL_SIZE'] ?? '', 10);
  return Number.isNaN(size) ? DEFAULT_THREADS : Math.min(THREADS_MAX, Math.max(1, size));
}
