// A request that gets no answer but an error; `server.ts` writes it as {error, message}.

/** The `error` of an error body. */
type ErrorCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'invalid_fault'
  | 'unknown_number'
  | 'unknown_modem'
  | 'unknown_sim'
  | 'unknown_call'
  | 'line_busy'
  | 'unreachable'
  | 'no_far_end'
  | 'invalid_wav'
  | 'too_many_subscribers'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'carrier_full'
  | 'too_many_clients'
  | 'internal_error';

/** HTTP status of each code. */
export const STATUSES: Record<ErrorCode, number> = {
  invalid_json: 400,
  invalid_request: 400,
  invalid_fault: 400,
  unknown_number: 404,
  unknown_modem: 404,
  unknown_sim: 404,
  unknown_call: 404,
  line_busy: 409,
  unreachable: 409,
  no_far_end: 409,
  invalid_wav: 400,
  too_many_subscribers: 503,
  not_found: 404,
  method_not_allowed: 405,
  payload_too_large: 413,
  carrier_full: 503,
  too_many_clients: 503,
  internal_error: 500,
};

/** Thrown by routes; its message is shown to the client. */
export class HttpError extends Error {
  override name = 'HttpError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
