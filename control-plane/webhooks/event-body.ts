// The body of a delivery, made when it is sent: from the rows as they are then, by the functions that make the API's answers.
import type { WebhookBody } from '#shared/api/webhooks.ts';
import type { MessageRow } from '../store/messages/messages.ts';
import type { QueuedCall, QueuedDelivery } from '../store/webhooks/webhook-queue.ts';

type DataOf<T extends WebhookBody['type']> = Extract<WebhookBody, { type: T }>['data'];

/** The API's own renderings. */
export interface Renderings {
  received(row: MessageRow): DataOf<'sms.received'>;
  sent(row: MessageRow): DataOf<'sms.status'>;
  ringing(call: QueuedCall, at: Date): DataOf<'call.ringing'>;
  answered(call: QueuedCall, at: Date): DataOf<'call.answered'>;
  /** Undefined for a call that has not ended. */
  ended(call: QueuedCall): DataOf<'call.ended'> | undefined;
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
    case 'call.ringing':
      return call && { type, timestamp, data: renderings.ringing(call, occurredAt) };
    case 'call.answered':
      return call && { type, timestamp, data: renderings.answered(call, occurredAt) };
    case 'call.ended': {
      const data = call && renderings.ended(call);
      return data && { type, timestamp, data };
    }
  }
}
