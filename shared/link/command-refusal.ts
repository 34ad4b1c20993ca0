// A node's refusal of a command of the control plane.
import type { CommandErrorCode } from './frame.ts';

/** The command was not tried, and no part of it reached the modem. */
export class CommandRefusal extends Error {
  override name = 'CommandRefusal';
  readonly code: CommandErrorCode;
  /** With `rate_limited`: the time after which the limit would allow it, if it is known. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: CommandErrorCode,
    message: string,
    { retryAfterMs, cause }: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.retryAfterMs = retryAfterMs;
  }
}
