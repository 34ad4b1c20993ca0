// A call as Twilio's resource Call: https://www.twilio.com/docs/voice/api/call-resource. Pure.
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { Call } from '../simrack-client.ts';
import { API_VERSION, resourcePathOf, rfc2822, type TwilioAccount } from './account.ts';

export type CallStatus =
  | 'queued'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'no-answer'
  | 'failed'
  | 'canceled';

/** A call, placed or received. Times are RFC 3339. */
export interface TwilioCall {
  sid: string;
  direction: 'inbound' | 'outbound-api';
  from: string;
  to: string;
  status: CallStatus;
  createdAt: string;
  answeredAt: string | null;
  endedAt: string | null;
  /** Null if that was not asked for, or is not known yet. */
  answeredBy: TwilioAnswerer | null;
}

type TwilioAnswerer = 'human' | 'machine_start' | 'unknown';

/** `machine_start`: it was judged by the begin of the greeting, not by its end. */
export const answererOf = (answeredBy: Call['answered_by'] | undefined): TwilioAnswerer | null =>
  answeredBy === 'machine' ? 'machine_start' : (answeredBy ?? null);

export const isOver = (status: CallStatus): boolean => !['queued', 'ringing', 'in-progress'].includes(status);

/** The last status of a call. */
export function endStatusOf(
  reason: EndReason,
  { wasAnswered, isInbound }: { wasAnswered: boolean; isInbound: boolean },
): CallStatus {
  if (wasAnswered) return 'completed';
  switch (reason) {
    case 'busy':
    case 'rejected':
      return 'busy';
    case 'no_answer':
      return 'no-answer';
    case 'cancelled':
    case 'local_hangup':
      return isInbound ? 'no-answer' : 'canceled';
    default:
      return 'failed';
  }
}

function statusOf({ state, reason, answered_at: answeredAt, direction }: Call): CallStatus {
  if (state === 'dialing') return 'queued';
  if (state === 'ringing') return 'ringing';
  if (state === 'active') return 'in-progress';
  const context = { wasAnswered: answeredAt !== null, isInbound: direction === 'inbound' };
  return endStatusOf(reason ?? 'contact_lost', context);
}

export function callViewOf(call: Call, sid: string): TwilioCall {
  const [ours, theirs] = [call.phone_number, call.caller ?? 'anonymous'];
  const isInbound = call.direction === 'inbound';
  return {
    sid,
    direction: isInbound ? 'inbound' : 'outbound-api',
    from: isInbound ? theirs : ours,
    to: isInbound ? ours : theirs,
    status: statusOf(call),
    createdAt: call.started_at,
    answeredAt: call.answered_at,
    endedAt: call.ended_at,
    answeredBy: answererOf(call.answered_by),
  };
}

/** Whole seconds of conversation, rounded up as Twilio bills them. */
export const secondsOf = ({ answeredAt, endedAt }: Pick<TwilioCall, 'answeredAt' | 'endedAt'>): number =>
  answeredAt === null || endedAt === null
    ? 0
    : Math.max(0, Math.ceil((Date.parse(endedAt) - Date.parse(answeredAt)) / 1000));

export function callJson(account: TwilioAccount, view: TwilioCall): object {
  const path = resourcePathOf(account, `Calls/${view.sid}`);
  const { answeredAt, createdAt, endedAt } = view;
  return {
    sid: view.sid,
    account_sid: account.sid,
    annotation: null,
    answered_by: view.answeredBy,
    api_version: API_VERSION,
    caller_name: null,
    date_created: rfc2822(createdAt),
    date_updated: rfc2822(endedAt ?? answeredAt ?? createdAt),
    direction: view.direction,
    duration: endedAt === null ? null : String(secondsOf(view)),
    end_time: endedAt === null ? null : rfc2822(endedAt),
    forwarded_from: null,
    from: view.from,
    from_formatted: view.from,
    group_sid: null,
    parent_call_sid: null,
    phone_number_sid: null,
    price: null,
    price_unit: 'USD',
    queue_time: '0',
    start_time: answeredAt === null ? null : rfc2822(answeredAt),
    status: view.status,
    subresource_uris: {},
    to: view.to,
    to_formatted: view.to,
    trunk_sid: null,
    uri: `${path}.json`,
  };
}
