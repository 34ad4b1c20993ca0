// The outcome of a message that the modem did not accept. Pure.
import { messageOf } from '#shared/error-message.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { AtError, AtTimeoutError, CmeError, CmsError, PortClosedError } from '../../at/at-error.ts';
import { cmeMeaning, cmsMeaning, type ErrorClass, type ErrorMeaning } from './sms-errors.ts';

/** The link allows 512. The text before it needs room. */
const MESSAGE_MAX = 400;

/** The outcomes with a reason. */
type FailedOutcome = Extract<SmsOutcome, { message: string }>;

/**
 * Returns the outcome of a message of one segment after a failed AT+CMGS: rejected if it was certainly not sent, otherwise unknown.
 * Without the PDU it was certainly not sent.
 */
export function failedOutcome(error: unknown, at: string): FailedOutcome {
  if (!(error instanceof AtError)) return { status: 'unknown', message: failureTextOf(error), at };
  if (error instanceof CmsError) {
    return codedOutcome(error, { at, code: `cms_${error.code}`, meaning: cmsMeaning(error.code) });
  }
  if (error instanceof CmeError) {
    return codedOutcome(error, { at, code: `cme_${error.code}`, meaning: cmeMeaning(error.code) });
  }
  if (error.bodyGiven) return { status: 'unknown', message: failureTextOf(error), at };
  if (error instanceof AtTimeoutError) {
    return rejected('modem_silent', 'retry', {
      at,
      message: `the modem did not answer: ${failureTextOf(error)}`,
    });
  }
  return error instanceof PortClosedError
    ? rejected('modem_lost', 'wait', { at, message: failureTextOf(error) })
    : rejected('modem_refused', 'retry', { at, message: failureTextOf(error) });
}

/** Returns the outcome of a failure in a message of several segments. Segments that were sent before cannot be recalled. */
export function failedSegmentOutcome(
  failure: FailedOutcome,
  { sent, total }: { sent: number; total: number },
): FailedOutcome {
  if (total === 1) return failure;
  const where = `segment ${sent + 1} of ${total}: ${failure.message}`;
  if (sent === 0) return { ...failure, message: where };
  const before = sent === 1 ? 'segment 1 was sent' : `segments 1 to ${sent} were sent`;
  return { status: 'unknown', message: `${before}, but not the whole message: ${where}`, at: failure.at };
}

/** Makes the outcome of a message that was certainly not sent. */
export function rejected(
  code: string,
  errorClass: Exclude<ErrorClass, 'ambiguous'>,
  { message, at }: { message: string; at: string },
): FailedOutcome {
  return { status: 'rejected', code, class: errorClass, message, at };
}

/** Returns an error as text, cut to the limit of the link. */
export function failureTextOf(error: unknown): string {
  return messageOf(error).slice(0, MESSAGE_MAX);
}

function codedOutcome(
  error: AtError,
  { code, meaning, at }: { code: string; meaning: ErrorMeaning; at: string },
): FailedOutcome {
  const message = `${meaning.name} (${failureTextOf(error)})`;
  if (meaning.class !== 'ambiguous') return rejected(code, meaning.class, { message, at });
  // Without the PDU, even a time-out of the network does not concern this message.
  return error.bodyGiven ? { status: 'unknown', message, at } : rejected(code, 'retry', { message, at });
}
