// Refusals in Twilio's form and with Twilio's codes: https://www.twilio.com/docs/api/errors
import { type ApiError, isApiError } from '../api-error.ts';

interface RefusalParts {
  status: number;
  code: number;
  message: string;
  retryAfterSeconds?: number | undefined;
}

export class TwilioRefusal extends Error {
  override name = 'TwilioRefusal';
  readonly status: number;
  readonly code: number;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, retryAfterSeconds }: RefusalParts) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get json(): object {
    const { code, message, status } = this;
    return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
  }
}

/** 400 with this code. */
export const invalid = (code: number, message: string): TwilioRefusal =>
  new TwilioRefusal({ status: 400, code, message });

export const notFound = (path: string): TwilioRefusal =>
  new TwilioRefusal({
    status: 404,
    code: 20_404,
    message: `The requested resource ${path} was not found`,
  });

/** A call that is over cannot be changed. Bots that hang up twice expect Twilio's 20404, which Pipecat ignores. */
export const callIsOver = (by: 'Status' | 'Twiml'): TwilioRefusal =>
  by === 'Twiml'
    ? invalid(21_220, 'Invalid call state: the call is over and cannot be redirected.')
    : new TwilioRefusal({ status: 404, code: 20_404, message: 'The call was not found: it is over' });

/** Twilio deletes texts and calls only when nothing more will happen to them. */
export const notFinished = (): TwilioRefusal =>
  new TwilioRefusal({
    status: 409,
    code: 20_009,
    message: 'The resource is in progress and cannot be deleted.',
  });

type Act = 'text' | 'call';

/** Refusals of the service before anything was sent or dialed: status and code, for texts and for calls. */
const CODES: Readonly<Record<string, Readonly<Record<Act, readonly [number, number]>>>> = {
  invalid_request: { text: [400, 21_211], call: [400, 21_211] },
  destination_not_allowed: { text: [400, 21_408], call: [400, 21_215] },
  recipient_opted_out: { text: [400, 21_610], call: [400, 21_610] },
  unauthorized: { text: [403, 20_005], call: [403, 20_005] },
  rate_limited: { text: [429, 20_429], call: [429, 20_429] },
  line_busy: { text: [429, 20_429], call: [429, 20_429] },
  subscription_not_bound: { text: [503, 20_503], call: [503, 20_503] },
  overloaded: { text: [503, 20_503], call: [503, 20_503] },
  unavailable: { text: [503, 20_503], call: [503, 20_503] },
  restarting: { text: [503, 20_503], call: [503, 20_503] },
};

/** Undefined if it is no refusal: the text or the call may be under way. */
export function twilioRefusalOf(error: ApiError, act: Act): TwilioRefusal | undefined {
  const { code, message, retryAfterSeconds } = error;
  const known = CODES[code]?.[act];
  if (known === undefined) return undefined;
  return new TwilioRefusal({ status: known[0], code: known[1], message, retryAfterSeconds });
}

/** The refusal for a request that changes nothing: each error of the service has one. Throws any other error again. */
export function unavailableOf(error: unknown): TwilioRefusal {
  if (!isApiError(error)) throw error;
  return (
    twilioRefusalOf(error, 'text') ?? new TwilioRefusal({ status: 503, code: 20_503, message: error.message })
  );
}
