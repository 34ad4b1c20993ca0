// Ctrl-C and SIGTERM during a wait: the command ends cleanly; a second signal ends the program at once.
import { InterruptedError } from './failures.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Runs `work` with a signal that aborts, with an `InterruptedError`, when the program is asked to end. */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const handlers = SIGNALS.map((name) => ({
    name,
    handle: () => controller.abort(new InterruptedError(name)),
  }));
  for (const { name, handle } of handlers) process.once(name, handle);
  try {
    return await work(controller.signal);
  } finally {
    for (const { name, handle } of handlers) process.off(name, handle);
  }
}
