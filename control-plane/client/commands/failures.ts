// Exit codes and error texts of failed commands, and of those that Ctrl-C or SIGTERM ends.
import { readFileSync } from 'node:fs';
import { messageOf } from '#shared/error-message.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { onOneLine } from '#shared/process/terminal.ts';
import { ApiError } from '../api-error.ts';
import { NotPayableError } from '../payments/offer.ts';

export const EXIT = {
  ok: 0,
  /** The service refused; or this client refused to make a payment. */
  refused: 1,
  /** Wrong options, or an unusable file. */
  usage: 2,
  /** No response in time, or the service is unavailable; or a wait ended without a message. */
  noAnswer: 3,
  /** It is unknown whether the payment has arrived. Run the command again: it does not pay again. */
  pending: 4,
  /** Too many requests, the service is overloaded or starting, or another run pays. Nothing was done: try again later. */
  later: 5,
  /** 128 and SIGPIPE, as a shell reports it: output that cannot be repeated was not read. */
  unread: 141,
  /** EX_SOFTWARE of sysexits.h: a bug in this program. */
  fault: 70,
} as const;

export const EXIT_HELP = `Exit codes:
  ${EXIT.ok}  done
  ${EXIT.refused}  refused by the service, more expensive than --max, or the call was not answered
  ${EXIT.usage}  wrong usage: an option, a file, no wallet, no token
  ${EXIT.noAnswer}  no response, nothing arrived in time, or the service is unavailable
  ${EXIT.pending}  the payment is in progress: run the same command again, it does not pay twice
  ${EXIT.later}  too many requests, the service is busy, or another subscribe is running: nothing was done, try again
     (after retry_after_seconds, if the error has it)
  130, 143  ended by Ctrl-C or by SIGTERM
  ${EXIT.unread}  the output of receive was not read: run simrack messages to see its messages`;

/** An error of the user; the message is for people. The service may be fine. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** A file that cannot be used: its path once, then the reason. Messages of Node.js repeat the path. */
export function unusable(file: string, error: unknown): UsageError {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  const [why = message] = syscall === undefined ? [] : message.split(`, ${syscall}`);
  return new UsageError(`${file}: ${code === undefined ? why : why.replace(`${code}: `, '')}`);
}

/** The contents of a file that the user names. Throws `UsageError`. */
export function readInput(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw unusable(file, error);
  }
}

/** The command has printed why: nothing more is printed, and the program ends with `EXIT.refused`. */
export class RefusedError extends Error {
  override name = 'RefusedError';
}

/** Another process does work that must not run twice at once. */
export class BusyError extends Error {
  override name = 'BusyError';
}

/** Ctrl-C or SIGTERM; the exit code is that of a shell. */
export class InterruptedError extends Error {
  override name = 'InterruptedError';
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super('interrupted');
    this.exitCode = signal === 'SIGINT' ? 130 : 143;
  }
}

const LATER: ReadonlySet<string> = new Set(['rate_limited', 'overloaded', 'restarting']);

export function exitCodeOf(error: unknown): number {
  if (error instanceof ApiError) {
    if (error.code === 'settlement_pending') return EXIT.pending;
    if (LATER.has(error.code)) return EXIT.later;
    if (error.code === 'unavailable') return EXIT.noAnswer;
    return error.isNoAnswer ? EXIT.noAnswer : EXIT.refused;
  }
  if (error instanceof InterruptedError) return error.exitCode;
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof BusyError) return EXIT.later;
  return error instanceof NotPayableError ? EXIT.refused : EXIT.fault;
}

/** The error as JSON, for `--json`. */
export function described(error: unknown): Record<string, unknown> {
  if (error instanceof ApiError) {
    const { status, code, message, details, retryAfterSeconds } = error;
    return {
      ...details,
      error: code,
      message,
      status,
      ...(retryAfterSeconds === undefined ? {} : { retry_after_seconds: retryAfterSeconds }),
    };
  }
  return { error: kindOf(error), message: messageOf(error) };
}

/** The error for people: what happened, and what to do. */
export function explained(error: unknown): string {
  if (!(error instanceof ApiError)) return messageOf(error);
  const { code, message, retryAfterSeconds } = error;
  // On one line: the lines after it are hints.
  const text = onOneLine(code === message ? message : `${code}: ${message}`);
  const hint =
    HINTS[code] ?? (retryAfterSeconds === undefined ? undefined : `try again in ${retryAfterSeconds} s`);
  return hint === undefined ? text : `${text}\n${hint}`;
}

const SIMRACK = ownCommand('simrack');

const HINTS: Readonly<Record<string, string>> = {
  unauthorized: `Get a new token for free: ${SIMRACK} recover`,
  no_active_subscription: `Buy a number: ${SIMRACK} subscribe`,
  pool_exhausted: `Nothing was paid. Get a mail when numbers are available again: ${SIMRACK} waitlist <email>`,
  settlement_pending: 'Run the same command again: it does not pay twice.',
  unreachable: 'Is the service running? Set --url or SIMRACK_URL, or run npm start in this folder.',
};

function kindOf(error: unknown): string {
  if (error instanceof NotPayableError) return 'not_payable';
  if (error instanceof InterruptedError) return 'interrupted';
  if (error instanceof BusyError) return 'busy';
  return error instanceof UsageError ? 'usage' : 'fault';
}

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
