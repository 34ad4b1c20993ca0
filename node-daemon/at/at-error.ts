// The ways an AT command can fail: one class for each case that callers handle differently.

import type { CallResult, FinalResult } from './result-code.ts';

/** Base of all failures of a command. */
export class AtError extends Error {
  override name = 'AtError';
  /**
   * Whether the modem was given the body (a PDU) before the failure. Without the body the command certainly had no effect. With it, only
   * the error's code says whether it had one.
   */
  readonly bodyGiven: boolean;

  constructor(message: string, options: { bodyGiven?: boolean; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.bodyGiven = options.bodyGiven ?? false;
  }
}

/** `+CME ERROR: <code>` (3GPP TS 27.007 §9.2); 100, "unknown", when the modem sent a text instead. */
export class CmeError extends AtError {
  override name = 'CmeError';
  readonly code: number;

  constructor(command: string, code: number, bodyGiven: boolean) {
    super(`${command}: +CME ERROR: ${code}`, { bodyGiven });
    this.code = code;
  }
}

/** `+CMS ERROR: <code>` (3GPP TS 27.005 §3.2.5); 500, "unknown error", when the modem sent a text. */
export class CmsError extends AtError {
  override name = 'CmsError';
  readonly code: number;

  constructor(command: string, code: number, bodyGiven: boolean) {
    super(`${command}: +CMS ERROR: ${code}`, { bodyGiven });
    this.code = code;
  }
}

/** No final result code in time. A later answer is a URC: `+CMGS: 7` while no message is being sent is the result of the message before. */
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

/** The port went away under the command, or was away before it. `cause` says how. */
export class PortClosedError extends AtError {
  override name = 'PortClosedError';
}

/** The command was not queued: too many wait already. */
export class QueueFullError extends AtError {
  override name = 'QueueFullError';
}

/** The error that a final result code stands for; `undefined` for success. */
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

/** Whether the modem gave no answer at all, neither good nor bad. */
export function isUnanswered(error: unknown): boolean {
  return !(error instanceof AtError) || error instanceof AtTimeoutError || error instanceof PortClosedError;
}
