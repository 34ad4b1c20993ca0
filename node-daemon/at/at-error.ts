// The errors of an AT command: one class for each case that callers handle differently.
import type { CallResult, FinalResult } from './result-code.ts';

/** Base of all failures of a command. */
export class AtError extends Error {
  override name = 'AtError';
  /**
   * Whether the modem got the body (a PDU) before the failure. Without the body the command had no effect. With it, only the error's
   * code shows whether it had one.
   */
  readonly bodyGiven: boolean;

  constructor(message: string, options: { bodyGiven?: boolean; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.bodyGiven = options.bodyGiven ?? false;
  }
}

/** `+CME ERROR: <code>` (3GPP TS 27.007 §9.2); 100, "unknown", if the modem sent an unknown text. */
export class CmeError extends AtError {
  override name = 'CmeError';
  readonly code: number;

  constructor(command: string, code: number, bodyGiven: boolean) {
    super(`${command}: +CME ERROR: ${code}`, { bodyGiven });
    this.code = code;
  }
}

/** `+CMS ERROR: <code>` (3GPP TS 27.005 §3.2.5); 500, "unknown error", if the modem sent an unknown text. */
export class CmsError extends AtError {
  override name = 'CmsError';
  readonly code: number;

  constructor(command: string, code: number, bodyGiven: boolean) {
    super(`${command}: +CMS ERROR: ${code}`, { bodyGiven });
    this.code = code;
  }
}

/** No final result code came in time. A later answer is a URC: `+CMGS: 7` without a message in flight answers the previous message. */
export class AtTimeoutError extends AtError {
  override name = 'AtTimeoutError';

  constructor(command: string, timeoutMs: number, bodyGiven: boolean) {
    super(`${command}: no answer in ${timeoutMs} ms`, { bodyGiven });
  }
}

/** A call command ended without a call. */
export class CallFailedError extends AtError {
  override name = 'CallFailedError';
  readonly result: Exclude<CallResult, 'CONNECT'>;

  constructor(command: string, result: Exclude<CallResult, 'CONNECT'>) {
    super(`${command}: ${result}`);
    this.result = result;
  }
}

/** The port closed before or during the command. `cause` is the reason. */
export class PortClosedError extends AtError {
  override name = 'PortClosedError';
}

/** The modem still works on a command that takes long, so it did not get this one. */
export class BusyError extends AtError {
  override name = 'BusyError';

  /** `other`: the name of the long command; `forMs`: how long the modem has worked on it. */
  constructor(other: string, forMs: number) {
    super(`the modem is busy with ${other} for ${Math.round(forMs / 1000)} s`);
  }
}

/** The command was not queued, because the queue is full. */
export class QueueFullError extends AtError {
  override name = 'QueueFullError';
}

/** Returns the error of a final result code; `undefined` for success. */
export function errorOfFinal(command: string, final: FinalResult, bodyGiven: boolean): AtError | undefined {
  switch (final.kind) {
    case 'ok':
      return undefined;
    case 'cme':
      return new CmeError(command, final.code, bodyGiven);
    case 'cms':
      return new CmsError(command, final.code, bodyGiven);
    case 'call':
      return final.result === 'CONNECT' ? undefined : new CallFailedError(command, final.result);
    case 'error':
      return new AtError(`${command}: ERROR`, { bodyGiven });
  }
}

/** Returns whether the modem did not answer at all. */
export function isUnanswered(error: unknown): boolean {
  return !(error instanceof AtError) || error instanceof AtTimeoutError || error instanceof PortClosedError;
}
