// The life of a program: start, run until a signal, stop in order, leave. Used by every main.ts.
import type { Logger } from '../log.ts';
import { errorLine } from './terminal.ts';

/** A program that takes longer than this to stop is ended as it is; everything it has is crash-safe. */
const STOP_TIMEOUT_MS = 10_000;

/** Ctrl-C under npm comes twice: from the terminal and from npm. What comes later is meant. */
const SAME_SIGNAL_MS = 1_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Running {
  /** Comes before `stop` and takes the time that it needs; ends at once when `signal` is aborted. */
  drain?(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a program and stops it on SIGINT, SIGTERM or SIGHUP; one that comes during the start waits for
 * its end. A failed start prints one line and exits with 1. Another signal, a second or more after the
 * first, ends the draining of a program that drains, then the process. So does a stop that hangs.
 */
export async function runProgram(
  log: Logger,
  start: () => Promise<Running>,
  stopTimeoutMs = STOP_TIMEOUT_MS,
): Promise<void> {
  const running = start();
  const hurry = new AbortController();
  let signalledAt: number | undefined;
  let isDraining = false;
  const stop = async (): Promise<void> => {
    const isLate = (): never => process.exit(1);
    const patience = setTimeout(isLate, stopTimeoutMs).unref();
    const program = await running;
    if (program.drain !== undefined) {
      clearTimeout(patience);
      isDraining = true;
      await program.drain(hurry.signal);
      isDraining = false;
      setTimeout(isLate, stopTimeoutMs).unref();
    }
    await program.stop();
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (signalledAt !== undefined && now - signalledAt < SAME_SIGNAL_MS) return;
    const isFirst = signalledAt === undefined;
    signalledAt = now;
    if (!isFirst && !isDraining) process.exit(130);
    log.info({ signal }, isFirst ? 'stopping' : 'stopping at once');
    if (!isFirst) {
      hurry.abort();
      return;
    }
    stop().then(
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
    process.stderr.write(errorLine(error));
    process.exit(1);
  }
}
