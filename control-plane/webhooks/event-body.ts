// The body of a delivery, made when it is sent: from the rows as they are then, by the functions that make the API's answers.
import type { PresenceEvent } from '#shared/api/voice-frames.ts';
import type { WebhookBody } from '#shared/api/webhooks.ts';
import type { MessageRow } from '../store/messages/messages.ts';
import type { QueuedCall, QueuedDelivery } from '../store/webhooks/webhook-queue.ts';

type DataOf<T extends WebhookBody['type']> = Extract<WebhookBody, { type: T }>['data'];

/** The API's own renderings. */
export interface Renderings {
  received(row: MessageRow): DataOf<'sms.received'>;
  sent(row: MessageRow): DataOf<'sms.status'>;
  call(type: 'call.ringing' | 'call.answered' | 'call.ended', call: QueuedCall, at: Date): PresenceEvent;
}

/** Undefined for a row that is gone. */
export function bodyOf(
  { call, occurredAt, text, type }: Pick<QueuedDelivery, 'type' | 'occurredAt' | 'text' | 'call'>,
  renderings: Renderings,
): WebhookBody | undefined {
  const timestamp = occurredAt.toISOString();
  switch (type) {
    case 'sms.received':
      return text && { type, timestamp, data: renderings.received(text) };
    case 'sms.status':
      return text && { type, timestamp, data: renderings.sent(text) };
    default:
      return call && { type, timestamp, data: renderings.call(type, call, occurredAt) };
  }
}
