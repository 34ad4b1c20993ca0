// A text as Twilio's resource Message: https://www.twilio.com/docs/messaging/api/message-resource. Pure.
import type { HistoryMessage } from '../simrack-client.ts';
import { API_VERSION, resourcePathOf, rfc2822, type TwilioAccount } from './account.ts';

export type MessageStatus = 'sending' | 'sent' | 'delivered' | 'undelivered' | 'failed' | 'received';

/** A text, sent or received. */
export interface MessageView {
  sid: string;
  direction: 'inbound' | 'outbound-api';
  from: string;
  to: string;
  body: string;
  /** Texts that it was sent as. */
  segments: number;
  status: MessageStatus;
  errorCode: number | null;
  errorMessage: string | null;
  /** RFC 3339. */
  createdAt: string;
}

/** Twilio's "unknown error": carriers do not say why. */
export const UNKNOWN_ERROR = 30_008;

/** `queued`: it waits at the carrier, which Twilio calls sent. A failure after that is a report of the carrier. */
export function messageStatusOf({
  status,
  message_id: messageId,
}: Pick<HistoryMessage, 'status' | 'message_id'>): MessageStatus {
  switch (status) {
    case null:
      return 'received';
    case 'queued':
    case 'sent':
      return 'sent';
    case 'delivered':
      return 'delivered';
    case 'expired':
      return 'undelivered';
    case 'failed':
      return messageId === null ? 'failed' : 'undelivered';
    default:
      return 'sending';
  }
}

const ORDER: readonly MessageStatus[] = ['received', 'delivered', 'sent', 'sending', 'undelivered', 'failed'];

/** The status of a text that went out as several. */
export const worstOf = (statuses: readonly MessageStatus[]): MessageStatus =>
  ORDER[Math.max(...statuses.map((status) => ORDER.indexOf(status)))] ?? 'sending';

export const isFinal = (status: MessageStatus): boolean =>
  ['delivered', 'undelivered', 'failed', 'received'].includes(status);

export const isFailure = (status: MessageStatus): boolean => status === 'failed' || status === 'undelivered';

export function messageViewOf(row: HistoryMessage, sid: string): MessageView {
  const status = messageStatusOf(row);
  return {
    sid,
    direction: row.direction === 'sent' ? 'outbound-api' : 'inbound',
    from: row.from_number,
    to: row.to_number,
    body: row.body,
    segments: 1,
    status,
    errorCode: isFailure(status) ? UNKNOWN_ERROR : null,
    errorMessage: null,
    createdAt: row.created_at,
  };
}

export function messageJson(account: TwilioAccount, view: MessageView): object {
  const path = resourcePathOf(account, `Messages/${view.sid}`);
  const at = rfc2822(view.createdAt);
  return {
    sid: view.sid,
    account_sid: account.sid,
    api_version: API_VERSION,
    body: view.body,
    date_created: at,
    date_sent: view.status === 'sending' ? null : at,
    date_updated: at,
    direction: view.direction,
    error_code: view.errorCode,
    error_message: view.errorMessage,
    from: view.from,
    messaging_service_sid: null,
    num_media: '0',
    num_segments: String(view.segments),
    price: null,
    price_unit: 'USD',
    status: view.status,
    subresource_uris: {},
    to: view.to,
    uri: `${path}.json`,
  };
}
