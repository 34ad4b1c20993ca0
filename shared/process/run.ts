// The life of a program: start, run until a signal, stop in order, leave. Used by every main.ts.
import type { Logger } from '../log.ts';
import { errorLine } from './terminal.ts';

/** After this time, a program that does not stop is killed. All its state is crash-safe. */
const STOP_TIMEOUT_MS = 10_000;

/**
 * Under npm, Ctrl-C arrives twice: from the terminal and from npm. A signal after this time is a second Ctrl-C.
 */
const SAME_SIGNAL_MS = 1_000;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

interface Running {
  /** Runs before `stop` and takes the time that it needs. It ends at once when `signal` is aborted. */
  drain?(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** Rejects when the program cannot go on: it stops, and exits with 1. */
  failed?: Promise<never> | undefined;
  /** Reads the configuration again on SIGHUP, which then does not stop the program. Never rejects. */
  reload?(): Promise<void>;
}

/**
 * Starts a program and stops it on SIGINT, SIGTERM, or SIGHUP without `reload`. A signal during the start takes effect after it. A
 * failed start prints one line and exits with 1. Another signal, at least a second
 * later, ends the draining if the program drains, and otherwise the process. A stop that hangs ends the process too.
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
  const onHangUp = async (): Promise<void> => {
    const cameAt = performance.now();
    const program = await running.catch(() => undefined);
    if (program?.reload === undefined) onSignal('SIGHUP', cameAt);
    else if (signalledAt === undefined) await program.reload();
  };
  const onSignal = (signal: NodeJS.Signals, cameAt = performance.now()): void => {
    if (signalledAt !== undefined && cameAt - signalledAt < SAME_SIGNAL_MS) return;
    const isFirst = signalledAt === undefined;
    signalledAt = cameAt;
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
  for (const signal of STOP_SIGNALS) process.on(signal, () => onSignal(signal));
  process.on('SIGHUP', () => void onHangUp());
  const { failed } = await running.catch((error: unknown) => exitUnstarted(log, error));
  failed?.catch((error: unknown) => {
    log.error({ err: error }, 'stopping: the program cannot go on');
    const leave = (): never => process.exit(1);
    stop().then(leave, leave);
  });
}

function exitUnstarted(log: Logger, error: unknown): never {
  log.debug({ err: error }, 'start failed');
  process.stderr.write(errorLine(error));
  process.exit(1);
}
