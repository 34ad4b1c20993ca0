// The expected "no" of a slot to a command of the control plane.
import type { CommandErrorCode } from '#shared/link/error-code.ts';

/** The command was not tried: no part of it reached the modem. */
export class CommandRefusal extends Error {
  override name = 'CommandRefusal';
  readonly code: CommandErrorCode;
  /** With `rate_limited`: when another command may pass. */
  readonly retryAfterMs: number | undefined;

  constructor(code: CommandErrorCode, message: string, cause?: unknown, retryAfterMs?: number) {
    super(message, { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
