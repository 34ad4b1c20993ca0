// One kind of error for every refusal of the service, and for every failure to get a response.
import { refusalSchema } from '#shared/api/answers.ts';
import { retryAfterMsOf } from '#shared/retry-after.ts';

/** No valid response: the service is unreachable, the response came too late, or it does not follow the API. `status` is 0 then. */
type NoAnswerCode = 'unreachable' | 'timeout' | 'invalid_answer';

interface ApiErrorParts {
  status: number;
  code: string;
  message: string;
  details?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

export class ApiError extends Error {
  override name = 'ApiError';
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** A stable code to switch on. */
  readonly code: string;
  /** The other fields of the response: `field`, `reason`, `call_id`, `request_id` … */
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, details = {}, retryAfterSeconds, cause }: ApiErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Whether it is unknown if the service did what it was asked to. */
  get isNoAnswer(): boolean {
    return this.status === 0;
  }
}

/** The error in a response; an HTML page of a proxy counts as one, too. */
export function errorOfAnswer(
  status: number,
  json: unknown,
  retryAfter: string | null | undefined,
): ApiError {
  const waitMs = retryAfterMsOf(retryAfter, new Date());
  const seconds = waitMs === undefined ? undefined : Math.ceil(waitMs / 1_000);
  const refusal = refusalSchema.safeParse(json);
  if (refusal.success) {
    const { error: code, message, ...details } = refusal.data;
    return new ApiError({ status, code, message, details, retryAfterSeconds: seconds });
  }
  // A refusal of a proxy may have no message.
  const code =
    typeof json === 'object' && json !== null && 'error' in json ? String(json.error) : 'http_error';
  const message =
    code === 'http_error'
      ? `unexpected response with status ${status}: it does not come from this API`
      : code;
  return new ApiError({ status, code, message, retryAfterSeconds: seconds });
}

export function noAnswer(code: NoAnswerCode, message: string, cause?: unknown): ApiError {
  return new ApiError({ status: 0, code, message, cause });
}

/** Whether it is an `ApiError` with one of these codes; without `codes`, with any. */
export const isApiError = (error: unknown, ...codes: string[]): error is ApiError =>
  error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
