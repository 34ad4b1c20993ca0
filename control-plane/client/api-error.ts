// Every "no" of the service, and every failure to get an answer from it, as one kind of error.
import { refusalSchema } from '#shared/api/answers.ts';

/** No answer: the service is unreachable, the answer came too late, or the API does not allow it. `status` is 0 then. */
export type NoAnswerCode = 'unreachable' | 'timeout' | 'invalid_answer';

export interface ApiErrorParts {
  status: number;
  code: string;
  message: string;
  details?: Readonly<Record<string, unknown>>;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

export class ApiError extends Error {
  override name = 'ApiError';
  /** Of the HTTP answer; 0 where there is none. */
  readonly status: number;
  /** Safe to switch on. */
  readonly code: string;
  /** The other fields of the answer: `field`, `reason`, `call_id`, `request_id` … */
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, details = {}, retryAfterSeconds, cause }: ApiErrorParts) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** It is unknown whether the service has done what it was asked. */
  get isNoAnswer(): boolean {
    return this.status === 0;
  }
}

/** The error in an answer; a proxy's page of HTML is one, too. */
export function errorOfAnswer(
  status: number,
  json: unknown,
  retryAfter: string | null | undefined,
): ApiError {
  const seconds = /^\d{1,9}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  const refusal = refusalSchema.safeParse(json);
  if (refusal.success) {
    const { error: code, message, ...details } = refusal.data;
    return new ApiError({ status, code, message, details, retryAfterSeconds: seconds });
  }
  // A 402 of /subscribe has no message.
  const code =
    typeof json === 'object' && json !== null && 'error' in json ? String(json.error) : 'http_error';
  const message = code === 'http_error' ? `the answer is ${status}, and not of this API` : code;
  return new ApiError({ status, code, message, retryAfterSeconds: seconds });
}

export function noAnswer(code: NoAnswerCode, message: string, cause?: unknown): ApiError {
  return new ApiError({ status: 0, code, message, cause });
}

/** With one of these codes; without any, with whichever. */
export const isApiError = (error: unknown, ...codes: string[]): error is ApiError =>
  error instanceof ApiError && (codes.length === 0 || codes.includes(error.code));
