// An expected "no": a stable code that the API answers with. Statuses are known to http/error-body.ts only.

export const REFUSAL_CODES = [
  'invalid_request',
  'invalid_json',
  'unauthorized',
  'signature_mismatch',
  'no_active_subscription',
  'forbidden',
  'phone_number_not_found',
  'call_not_found',
  'subscription_not_bound',
  'line_busy',
  'phone_node_unreachable',
  'upgrade_required',
  'not_found',
  'method_not_allowed',
  'payment_already_used',
  'payload_too_large',
  'unsupported_media_type',
  'destination_not_allowed',
  'phone_node_error',
  'rate_limited',
  'enrolment_refused',
  'node_revoked',
  'restarting',
  'overloaded',
  'pool_exhausted',
  'settlement_pending',
  'settlement_unavailable',
  'internal_error',
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

export interface RefusalOptions {
  /** Extra keys of the error body. */
  details?: Record<string, unknown>;
  /** Extra headers of the answer. */
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Thrown anywhere below a handler; becomes `{error, message, …details}`. */
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
