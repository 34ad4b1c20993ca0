// Sends a text of any length: whole if the service takes it, otherwise as numbered texts, in order. Nothing is sent twice.
import { type NumberedTexts, numberedTexts } from '#shared/sms/numbered-texts.ts';
import { segmentText } from '#shared/sms/segmentation.ts';
import { type Replacement, transliterate } from '#shared/sms/transliteration.ts';
import { ApiError, isApiError } from './api-error.ts';
import type { Answer } from './api-types.ts';

export interface LongText {
  /** E.164. */
  to: string;
  body: string;
  /** Replaces curly quotes, dashes, ellipses and special spaces if that makes the text GSM 7-bit. */
  transliterate?: boolean | undefined;
  /** Time of the first attempt: what the history has since then is not sent again. */
  since?: Date | undefined;
}

/** A text that went out. `message_id` is null if an earlier attempt sent it and its outcome is unknown. */
interface SentText {
  body: string;
  message_id: string | null;
  status: string;
}

export interface SentLongText {
  messages: SentText[];
  replaced: Replacement[];
}

type SentMessage = Answer<'messages'>['messages'][number];

interface SmsCalls {
  send(body: { to: string; body: string }): Promise<Answer<'send'>>;
  history(query: { direction: 'sent'; since: Date }): AsyncGenerator<SentMessage, void>;
}

/** Some texts went out, others did not. Send again with `since` to continue: what went out is skipped. */
export class PartlySentError extends ApiError {
  override name = 'PartlySentError';
  /** In order. */
  readonly sent: readonly SentText[];
  /** Whether the first of `unsent` may have been sent all the same. */
  readonly isUnclear: boolean;
  readonly unsent: readonly string[];
  readonly since: Date;

  constructor(cause: ApiError, parts: Pick<PartlySentError, 'sent' | 'unsent' | 'isUnclear' | 'since'>) {
    const { code, details, retryAfterSeconds, status } = cause;
    const count = parts.sent.length + parts.unsent.length;
    super({
      status,
      code,
      message: `sent ${parts.sent.length} of ${count} texts: ${cause.message}`,
      details: {
        ...details,
        sent: parts.sent,
        unsent: parts.unsent,
        unclear: parts.isUnclear,
        since: parts.since.toISOString(),
      },
      retryAfterSeconds,
      cause,
    });
    this.sent = parts.sent;
    this.unsent = parts.unsent;
    this.isUnclear = parts.isUnclear;
    this.since = parts.since;
  }
}

/** The clock of the service may differ from that of the client. */
export const CLOCK_ERROR_MS = 60_000;

export async function sendLongText(calls: SmsCalls, text: LongText, now: Date): Promise<SentLongText> {
  const { text: body, replaced } =
    text.transliterate === true ? transliterate(text.body) : { text: text.body, replaced: [] };
  const before = text.since === undefined ? [] : await sentSince(calls, text.to, text.since);
  const since = text.since ?? new Date(now.getTime() - CLOCK_ERROR_MS);
  const whole = before.find((sent) => sent.body === body);
  if (whole !== undefined) return { messages: [whole], replaced };
  const split = splitOf(body);
  const texts = split instanceof RangeError ? [] : split.texts;
  const isSplitBefore = before.some((sent) => sent.body === texts[0]);
  if (!isSplitBefore) {
    try {
      return { messages: [{ body, ...(await outcomeOf(calls, text.to, body)) }], replaced };
    } catch (error) {
      if (!isTooLong(error) || segmentText(body).segments.length === 1) throw error;
      if (split instanceof RangeError) throw beyondSplitting(error, split);
    }
  }
  const messages: SentText[] = [];
  for (const [index, each] of texts.entries()) {
    const earlier = before.find((sent) => sent.body === each);
    try {
      messages.push(earlier ?? { body: each, ...(await outcomeOf(calls, text.to, each)) });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isUnclear = error.isNoAnswer || error.status >= 500;
      throw new PartlySentError(error, { sent: messages, unsent: texts.slice(index), isUnclear, since });
    }
  }
  return { messages, replaced };
}

async function outcomeOf(calls: SmsCalls, to: string, body: string): Promise<Omit<SentText, 'body'>> {
  const { message_id, status } = await calls.send({ to, body });
  return { message_id, status };
}

/** Texts to this number that went out, or may have. */
async function sentSince(calls: SmsCalls, to: string, since: Date): Promise<SentText[]> {
  const sent: SentText[] = [];
  for await (const { body, message_id, status, to_number } of calls.history({ direction: 'sent', since }))
    if (to_number === to && status !== 'failed' && status !== 'expired')
      sent.push({ body, message_id, status: status ?? 'unknown' });
  return sent;
}

/** The error if the text is too long for that, too. */
function splitOf(body: string): NumberedTexts | RangeError {
  try {
    return numberedTexts(body);
  } catch (error) {
    if (error instanceof RangeError) return error;
    throw error;
  }
}

/** The refusal of the whole text, with the limit of numbered texts in its message. */
const beyondSplitting = ({ status, code, details }: ApiError, { message }: RangeError): ApiError =>
  new ApiError({ status, code, message, details });

/** Whether the service refused a text because of its length. */
export const isTooLong = (error: unknown): error is ApiError =>
  isApiError(error, 'invalid_request') && typeof error.details['max_units'] === 'number';
