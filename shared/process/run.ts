// The life of a program: start, run until a signal, stop in order, leave. Used by every main.ts.
import type { Logger } from '../log.ts';

/** A program that takes longer than this to stop is ended as it is; everything it has is crash-safe. */
const STOP_TIMEOUT_MS = 10_000;

/** Ctrl-C under npm comes twice: from the terminal and from npm. What comes later is meant. */
const SAME_SIGNAL_MS = 1_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Running {
  stop(): Promise<void>;
}

/**
 * Starts a program and stops it on SIGINT, SIGTERM or SIGHUP; one that comes during the start waits for
 * its end. A failed start prints one line and exits with 1. Another signal, a second or more after the
 * first, or a stop that hangs, ends the process at once.
 */
export async function runProgram(
  log: Logger,
  start: () => Promise<Running>,
  stopTimeoutMs = STOP_TIMEOUT_MS,
): Promise<void> {
  const running = start();
  let stoppingSince: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince >= SAME_SIGNAL_MS) process.exit(130);
      return;
    }
    stoppingSince = performance.now();
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    running
      .then((program) => program.stop())
      .then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'stop failed');
          process.exit(1);
        },
      );
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  try {
    await running;
  } catch (error) {
    log.debug({ err: error }, 'start failed');
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
