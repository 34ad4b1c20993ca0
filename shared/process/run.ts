// The life of a program: start, run until a signal, stop in order, leave. Used by every main.ts.
import type { Logger } from '../log.ts';

/** A program that takes longer than this to stop is ended as it is; everything it has is crash-safe. */
const STOP_TIMEOUT_MS = 10_000;

export interface Running {
  stop(): Promise<void>;
}

/**
 * Starts a program and stops it on SIGINT or SIGTERM. A failed start prints one line and exits with 1.
 * A second signal, or a stop that hangs, ends the process at once.
 */
export async function runProgram(log: Logger, start: () => Promise<Running>): Promise<void> {
  let running: Running;
  try {
    running = await start();
  } catch (error) {
    log.debug({ err: error }, 'start failed');
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(130);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
    running.stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
}
