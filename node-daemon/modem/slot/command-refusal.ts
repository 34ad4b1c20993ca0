// The expected "no" of a slot to a command of the control plane.
import type { CommandErrorCode } from '#shared/link/error-code.ts';

/** The command was not tried: no part of it reached the modem. */
export class CommandRefusal extends Error {
  override name = 'CommandRefusal';
  readonly code: CommandErrorCode;
  /** With `rate_limited`: after this time it would not be refused for that. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: CommandErrorCode,
    message: string,
    { retryAfterMs, cause }: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
