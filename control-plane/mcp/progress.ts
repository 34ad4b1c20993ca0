// Signs of life of a tool that takes longer.
import type { Clock, Timer } from '#shared/clock.ts';
import type { ToolCall } from './tool.ts';

/** Clients that wait expect a sign of life every 10 s. */
const EVERY_MS = 5_000;

/** Runs `work` and reports its progress in seconds until it is done. */
export async function reportProgress<T>(
  clock: Clock,
  { onProgress }: Pick<ToolCall, 'onProgress'>,
  work: () => Promise<T>,
): Promise<T> {
  let seconds = 0;
  const next = (): Timer =>
    clock.after(EVERY_MS, () => {
      seconds += EVERY_MS / 1_000;
      timer = next();
      onProgress(seconds);
    });
  let timer = next();
  try {
    return await work();
  } finally {
    timer.cancel();
  }
}
