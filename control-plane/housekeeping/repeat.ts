// Repeats work at intervals until it is stopped.
import type { Clock, Timer } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import { emitMetric, type Task } from '../metrics/metric-events.ts';

interface Repeated {
  clock: Clock;
  log: Logger;
  task: Task;
  everyMs: number;
  /** Default: 0. Work that can wait begins later: an instance that starts serves first. */
  firstMs?: number;
}

/** Runs `work` after `firstMs`, and again `everyMs` after each end; `stop` waits for the run that is under way. */
export function repeat(
  { clock, log, task, everyMs, firstMs = 0 }: Repeated,
  work: () => Promise<void>,
): { stop(): Promise<void> } {
  let isStopped = false;
  let timer: Timer | undefined;
  let run = Promise.resolve();
  const once = (): void => {
    run = work()
      .then(
        () => true,
        (error: unknown) => {
          log.error({ err: error, task }, 'housekeeping failed');
          return false;
        },
      )
      .then((isDone) => {
        emitMetric({ kind: 'housekept', task, isDone, atMs: clock.now() });
        if (!isStopped) timer = clock.after(everyMs, once);
      });
  };
  if (firstMs === 0) once();
  else timer = clock.after(firstMs, once);
  return {
    async stop() {
      isStopped = true;
      timer?.cancel();
      await run;
    },
  };
}
