// Signals that follow others for the length of one task.
import { setMaxListeners } from 'node:events';

/** A signal for one task. Call `unlink` when the task is over. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  unlink(): void;
}

/**
 * A signal that is aborted with the first of these, with its reason. Unlike `AbortSignal.any`, it leaves nothing behind on a signal that lives
 * as long as the process: on Node 20 that costs about 100 bytes for each call.
 */
export function linkedSignal(...signals: ReadonlyArray<AbortSignal | undefined>): LinkedSignal {
  const controller = new AbortController();
  const links = signals.flatMap((signal) => {
    if (signal === undefined) return [];
    const onAbort = (): void => controller.abort(signal.reason);
    if (signal.aborted) onAbort();
    // As many tasks as there are at a time: each removes its own.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', onAbort, { once: true });
    return [() => signal.removeEventListener('abort', onAbort)];
  });
  return {
    signal: controller.signal,
    unlink: () => {
      for (const unlink of links) unlink();
    },
  };
}
