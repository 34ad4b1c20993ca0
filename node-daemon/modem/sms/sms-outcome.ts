// The outcome of a message that the modem did not take normally. Pure.
import type { SmsOutcome } from '#shared/link/messages.ts';
import { AtError, AtTimeoutError, CmeError, CmsError, PortClosedError } from '../../at/at-error.ts';
import { cmeMeaning, cmsMeaning, type ErrorClass, type ErrorMeaning } from './sms-errors.ts';

/** The link takes 512; the text put before it needs room. */
const MESSAGE_MAX = 400;

/** The outcomes that say why. */
type FailedOutcome = Extract<SmsOutcome, { message: string }>;

/**
 * The outcome of a message of one segment after a failed AT+CMGS: rejected when it certainly was not sent, unknown when that is uncertain.
 * Before the PDU was given, it certainly was not sent.
 */
export function failedOutcome(error: unknown, at: string): FailedOutcome {
  if (!(error instanceof AtError)) return { status: 'unknown', message: textOf(error), at };
  if (error instanceof CmsError) {
    return codedOutcome(error, { at, code: `cms_${error.code}`, meaning: cmsMeaning(error.code) });
  }
  if (error instanceof CmeError) {
    return codedOutcome(error, { at, code: `cme_${error.code}`, meaning: cmeMeaning(error.code) });
  }
  if (error.bodyGiven) return { status: 'unknown', message: textOf(error), at };
  if (error instanceof AtTimeoutError) {
    return rejected('modem_silent', 'retry', { at, message: `the modem did not answer: ${textOf(error)}` });
  }
  return error instanceof PortClosedError
    ? rejected('modem_lost', 'wait', { at, message: textOf(error) })
    : rejected('modem_refused', 'retry', { at, message: textOf(error) });
}

/** A failure in a message of several segments: segments that went out before it cannot be called back. */
export function failedSegmentOutcome(
  failure: FailedOutcome,
  { sent, total }: { sent: number; total: number },
): FailedOutcome {
  if (total === 1) return failure;
  const where = `segment ${sent + 1} of ${total}: ${failure.message}`;
  if (sent === 0) return { ...failure, message: where };
  const before = sent === 1 ? 'segment 1 was sent' : `segments 1 to ${sent} were sent`;
  return { status: 'unknown', message: `${before}, but not the whole message; ${where}`, at: failure.at };
}

/** A message that was certainly not sent. */
export function rejected(
  code: string,
  errorClass: Exclude<ErrorClass, 'ambiguous'>,
  { message, at }: { message: string; at: string },
): FailedOutcome {
  return { status: 'rejected', code, class: errorClass, message, at };
}

/** An error as text, as long as the wire takes. */
export function textOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, MESSAGE_MAX);
}

function codedOutcome(
  error: AtError,
  { code, meaning, at }: { code: string; meaning: ErrorMeaning; at: string },
): FailedOutcome {
  const message = `${meaning.name} (${textOf(error)})`;
  if (meaning.class !== 'ambiguous') return rejected(code, meaning.class, { message, at });
  // Without the PDU even a time-out of the network is none of this message.
  return error.bodyGiven ? { status: 'unknown', message, at } : rejected(code, 'retry', { message, at });
}
