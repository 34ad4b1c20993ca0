// How much a number may send before carriers take it for a machine: its usage, the limits, and which one a further text would exceed. Pure.
import type { SendingLimit } from '#shared/api/answers.ts';

const MINUTE_MS = 60_000;
export const SENDING_DAY_MS = 24 * 60 * MINUTE_MS;

/** The share of a limit from which the holder and the operator are warned. */
const WARNING_SHARE = 0.8;

/** 0: no limit. Each counts one number in any 60 seconds or 24 hours. A text of several segments counts once for each. */
export interface SendingLimits {
  smsPerMinute: number;
  smsPerDay: number;
  smsRecipientsPerDay: number;
  /** Recipients of one and the same text. */
  smsRepeatedPerDay: number;
  /** Texts in addition to those that received texts allow. */
  smsUnansweredPerDay: number;
  /** Texts that each received text allows. */
  smsPerAnswer: number;
}

/** Texts that a number sent and received in the last minute and the last 24 hours. */
export interface SendingUsage {
  minute: number;
  day: number;
  recipients: number;
  /** Recipients of the text in question. */
  repeated: number;
  /** Counted only as far as it matters (`receivedNeeded`). */
  received: number;
}

/** The usage that one more text adds. */
export interface AddedUsage {
  segments: number;
  isNewRecipient: boolean;
  /** The recipient has not got the same text in the last 24 hours. */
  isNewRepetition: boolean;
}

export interface SendingLevel {
  limit: SendingLimit;
  used: number;
  max: number;
  windowMs: number;
}

/** A limit that a text would exceed, with what has been used without that text. */
export interface ExceededLimit extends SendingLevel {
  /** The usage that the text would add. */
  added: number;
}

/** The first limit that the text would exceed; undefined if it may be sent. */
export function exceededBy(
  usage: SendingUsage,
  limits: SendingLimits,
  added: AddedUsage,
): ExceededLimit | undefined {
  // With nothing used, even a text with more segments than the limit passes: it never would otherwise.
  return withAdded(usage, limits, added).find(
    ({ added: more, max, used }) => more > 0 && used > 0 && used + more > max,
  );
}

/** The limits that are nearly or fully used once the text is sent. */
export function nearlyUsed(usage: SendingUsage, limits: SendingLimits, added: AddedUsage): SendingLevel[] {
  return withAdded(usage, limits, added)
    .map(({ added: more, used, ...level }) => ({ ...level, used: used + more }))
    .filter(({ max, used }) => used >= max * WARNING_SHARE);
}

/** How many received texts have to be counted at most: with more, the texts of this usage pass without a warning. */
export function receivedNeeded(sent: number, { smsPerAnswer, smsUnansweredPerDay }: SendingLimits): number {
  if (smsUnansweredPerDay === 0 || smsPerAnswer === 0) return 0;
  return Math.max(0, Math.ceil((sent / WARNING_SHARE - smsUnansweredPerDay) / smsPerAnswer) + 1);
}

function withAdded(
  { day, minute, received, recipients, repeated }: SendingUsage,
  limits: SendingLimits,
  { isNewRecipient, isNewRepetition, segments }: AddedUsage,
): ExceededLimit[] {
  const unanswered = limits.smsUnansweredPerDay;
  const levels: ExceededLimit[] = [
    {
      limit: 'messages_per_minute',
      used: minute,
      added: segments,
      max: limits.smsPerMinute,
      windowMs: MINUTE_MS,
    },
    {
      limit: 'messages_per_day',
      used: day,
      added: segments,
      max: limits.smsPerDay,
      windowMs: SENDING_DAY_MS,
    },
    {
      limit: 'recipients_per_day',
      used: recipients,
      added: Number(isNewRecipient),
      max: limits.smsRecipientsPerDay,
      windowMs: SENDING_DAY_MS,
    },
    {
      limit: 'repeated_text_recipients_per_day',
      used: repeated,
      added: Number(isNewRepetition),
      max: limits.smsRepeatedPerDay,
      windowMs: SENDING_DAY_MS,
    },
    {
      limit: 'unanswered_per_day',
      used: day,
      added: segments,
      max: unanswered === 0 ? 0 : unanswered + limits.smsPerAnswer * received,
      windowMs: SENDING_DAY_MS,
    },
  ];
  return levels.filter(({ max }) => max > 0);
}
