// An expected rejection of a request, with a stable code for the API.
import type { RefusalCode } from '#shared/api/refusals.ts';

interface RefusalOptions {
  /** Extra keys of the error body. */
  details?: Record<string, unknown>;
  /** Extra headers of the answer. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** May be thrown anywhere below a handler; becomes `{error, message, …details}`. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly code: RefusalCode;
  readonly details: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(code: RefusalCode, message: string, options: RefusalOptions = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}
