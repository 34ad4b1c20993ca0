// Webhooks: their requests and answers, and the events that they carry (Standard Webhooks, https://www.standardwebhooks.com).
import * as z from 'zod';
import { historyMessageSchema, inboundMessageSchema } from './answers.ts';
import { countField, cursorField, timeField } from './fields.ts';
import { dateTimeSchema, limitSchema } from './requests.ts';
import { answeredEventSchema, endedEventSchema, ringingEventSchema } from './voice-frames.ts';

export const WEBHOOK_EVENTS = [
  'sms.received',
  'sms.status',
  'call.ringing',
  'call.answered',
  'call.ended',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** Webhooks of a subscription. */
export const WEBHOOKS_MAX = 5;

/** Deliveries that replays and tests of a subscription may send in any hour. Live events do not count. */
export const REPLAYED_PER_HOUR_MAX = 1_000;

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 200;

const idField = z.string().meta({ description: 'Id of the webhook.', examples: ['wh_q0Zk2mV8aXbT4r1c'] });

const urlField = z
  .string({ error: 'must be an https URL' })
  .min(1, 'must be an https URL')
  .max(URL_CHARACTERS_MAX, `must have at most ${URL_CHARACTERS_MAX} characters`)
  .meta({
    description:
      'Where events are posted: an https URL with a public address, without user name and password. Redirects are not followed.',
    examples: ['https://example.org/simrack'],
  });

const eventsField = z
  .array(z.enum(WEBHOOK_EVENTS, { error: `each must be one of ${WEBHOOK_EVENTS.join(', ')}` }), {
    error: 'must be a list of events',
  })
  .min(1, 'must have at least one event')
  .max(WEBHOOK_EVENTS.length, 'has an event twice')
  .refine((events) => new Set(events).size === events.length, 'has an event twice')
  .meta({ description: 'The events that are sent.' });

const claimField = z.boolean({ error: 'must be true or false' }).meta({
  description:
    'Whether a text counts as claimed once the receiver has answered 2xx: `GET /sms/receive` then leaves it out.',
});

const descriptionField = z
  .string({ error: 'must be a string' })
  .max(DESCRIPTION_CHARACTERS_MAX, `must have at most ${DESCRIPTION_CHARACTERS_MAX} characters`)
  .refine((text) => !/[\p{Control}\p{Surrogate}]/u.test(text), 'must be printable')
  .meta({ description: 'A note for yourself.' });

/** POST /webhooks. */
export const webhookRequestSchema = z.strictObject({
  url: urlField,
  events: eventsField.default([...WEBHOOK_EVENTS]),
  claim: claimField.default(false),
  description: descriptionField.default(''),
});

/** PATCH /webhooks/{id}: only what is given changes. */
export const webhookChangeSchema = z.strictObject({
  url: urlField.optional(),
  events: eventsField.optional(),
  claim: claimField.optional(),
  description: descriptionField.optional(),
  enabled: z.boolean({ error: 'must be true or false' }).optional().meta({
    description:
      'False: only tests are sent, and no events are queued. True: events are sent again, beginning with those that waited.',
  }),
});

/** Path of everything about one webhook. */
export const webhookPathSchema = z.object({
  id: z
    .string()
    .regex(/^wh_[A-Za-z0-9_-]{16}$/, 'must be the id of a webhook')
    .meta({ description: 'The `id` of a webhook in /webhooks.' }),
});

/** A webhook of GET /webhooks. */
export const webhookSchema = z.object({
  id: idField,
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  claim: z.boolean(),
  description: z.string(),
  enabled: z.boolean(),
  disabled_reason: z
    .string()
    .nullable()
    .meta({ description: 'Why the service stopped it, for people; null if it did not.' }),
  created_at: timeField,
  failing_since: timeField.nullable().meta({
    description: 'Since when every attempt has failed; null if the last one succeeded or there was none.',
  }),
  last_error: z
    .string()
    .nullable()
    .meta({ description: 'The result of the last failed attempt, for people.', examples: ['HTTP 500'] }),
  waiting: countField.meta({ description: 'Deliveries that wait for an attempt.' }),
});

const secretField = z.string().meta({
  description: 'The key of the signatures. Store it now: it is not shown again.',
  examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
});

/** POST /webhooks: the webhook, with its secret. */
export const webhookCreatedSchema = webhookSchema.extend({ secret: secretField });

/** GET /webhooks. */
export const webhooksSchema = z.object({ webhooks: z.array(webhookSchema) });

/** POST /webhooks/{id}/rotate. */
export const webhookRotatedSchema = z.object({
  secret: secretField,
  previous_valid_until: timeField.meta({
    description: 'Until then, each delivery also has a signature of the previous secret.',
  }),
});

/** POST /webhooks/{id}/test. */
export const webhookTestedSchema = z.object({
  delivered: z.boolean().meta({ description: 'Whether the receiver answered 2xx.' }),
  status: z.number().int().nullable().meta({ description: 'The HTTP status; null without an answer.' }),
  error: z.string().nullable(),
  duration_ms: countField,
});

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

const deliveryIdField = z.number().int();

/** A delivery of GET /webhooks/{id}/deliveries. */
export const webhookDeliverySchema = z.object({
  id: deliveryIdField,
  event_id: z
    .string()
    .meta({ description: 'The `webhook-id` header: the same at every attempt and replay of an event.' }),
  type: z.enum(WEBHOOK_EVENTS),
  state: z.enum(DELIVERY_STATES).meta({ description: '`failed`: no further attempt is made.' }),
  attempts: countField,
  status: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'HTTP status of the last attempt; null without an answer.' }),
  error: z.string().nullable().meta({ description: 'The failure of the last attempt, for people.' }),
  occurred_at: timeField,
  last_attempt_at: timeField.nullable(),
  next_attempt_at: timeField
    .nullable()
    .meta({ description: 'Not before this time; null if it is due now, or no attempt follows.' }),
});

/** GET /webhooks/{id}/deliveries. */
export const webhookDeliveriesSchema = z.object({
  deliveries: z.array(webhookDeliverySchema),
  next_cursor: cursorField,
});

/** Query of GET /webhooks/{id}/deliveries. */
export const webhookDeliveriesQuerySchema = z.strictObject({
  state: z.enum(DELIVERY_STATES, { error: `must be one of ${DELIVERY_STATES.join(', ')}` }).optional(),
  limit: limitSchema(50),
  cursor: z.string().max(256, 'must be the next_cursor of an earlier answer').optional(),
});

/** POST /webhooks/{id}/replay. */
export const webhookReplaySchema = z
  .strictObject({
    delivery_id: z
      .number('must be the id of a delivery')
      .int()
      .min(1)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .meta({ description: 'Send this delivery again.' }),
    since: dateTimeSchema.optional().meta({
      description: `Send all events since then again, at most a week back, with received texts that the webhook did not get. Of more than ${REPLAYED_PER_HOUR_MAX}, or than the limit of the hour leaves, only the newest.`,
    }),
  })
  .refine(({ delivery_id, since }) => (delivery_id === undefined) !== (since === undefined), {
    error: 'give either delivery_id or since',
    path: ['delivery_id'],
  });

export const webhookReplayedSchema = z.object({
  queued: countField.meta({ description: 'Number of deliveries that are sent again.' }),
});

const eventFields = { timestamp: timeField.meta({ description: 'When the event occurred.' }) };

/** The body of a delivery. */
export const webhookBodySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('sms.received'), ...eventFields, data: inboundMessageSchema }),
  z.object({ type: z.literal('sms.status'), ...eventFields, data: historyMessageSchema }),
  z.object({ type: z.literal('call.ringing'), ...eventFields, data: ringingEventSchema }),
  z.object({ type: z.literal('call.answered'), ...eventFields, data: answeredEventSchema }),
  z.object({ type: z.literal('call.ended'), ...eventFields, data: endedEventSchema }),
  z.object({ type: z.literal('webhook.test'), ...eventFields, data: z.object({ webhook_id: idField }) }),
]);
export type WebhookBody = z.input<typeof webhookBodySchema>;
