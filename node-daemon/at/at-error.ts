// What can go wrong with an AT command, one class for each thing that a caller does differently.

/** Base of all failures of a command. */
export class AtError extends Error {
  override name = 'AtError';
  /**
   * Whether the body (a PDU) was given to the modem before the failure. If it was not, the command
   * certainly had no effect; if it was, only the error's code can tell.
   */
  readonly bodyGiven: boolean;

  constructor(message: string, options: { bodyGiven?: boolean; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.bodyGiven = options.bodyGiven ?? false;
  }
}

/** `+CME ERROR: <code>` (3GPP TS 27.007 §9.2); 100, "unknown", when the modem told a text instead. */
export class CmeError extends AtError {
  override name = 'CmeError';
  readonly code: number;

  constructor(command: string, code: number, bodyGiven: boolean) {
    super(`${command}: +CME ERROR: ${code}`, { bodyGiven });
    this.code = code;
  }
}

/** `+CMS ERROR: <code>` (3GPP TS 27.005 §3.2.5); 500, "unknown error", when the modem told a text. */
export class CmsError extends AtError {
  override name = 'CmsError';
  readonly code: number;

  constructor(command: string, code: number, bodyGiven: boolean) {
    super(`${command}: +CMS ERROR: ${code}`, { bodyGiven });
    this.code = code;
  }
}

/** No final result code in time. */
export class AtTimeoutError extends AtError {
  override name = 'AtTimeoutError';

  constructor(command: string, timeoutMs: number, bodyGiven: boolean) {
    super(`${command}: no answer in ${timeoutMs} ms`, { bodyGiven });
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
