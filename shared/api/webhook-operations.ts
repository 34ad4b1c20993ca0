// The operations of webhooks.
import type { Operation } from './operation.ts';
import * as webhooks from './webhooks.ts';

const ABOUT_ALL = { tag: 'webhooks', auth: 'bearer' } as const;
const ABOUT_ONE = { ...ABOUT_ALL, params: webhooks.webhookPathSchema } as const;

const addWebhook = {
  ...ABOUT_ALL,
  id: 'addWebhook',
  method: 'post',
  path: '/webhooks',
  summary: 'Have received texts, statuses and calls posted to a URL',
  description:
    `A number can have ${webhooks.WEBHOOKS_MAX} webhooks. Each event is posted as signed JSON (Standard Webhooks), in order, at least once, ` +
    'until the receiver answers 2xx. Attempts go on for three days; after that the webhook is disabled. ' +
    'The answer has the secret of the signatures, which is not shown again.',
  body: webhooks.webhookRequestSchema,
  answer: webhooks.webhookCreatedSchema,
  refusals: ['webhook_url_not_allowed', 'webhook_limit_reached'],
} as const satisfies Operation;

const listWebhooks = {
  ...ABOUT_ALL,
  id: 'listWebhooks',
  method: 'get',
  path: '/webhooks',
  summary: 'List the webhooks of the number',
  description:
    'Shows whether each one works: `failing_since`, `last_error` and `disabled_reason`. Secrets are not shown.',
  answer: webhooks.webhooksSchema,
  refusals: [],
} as const satisfies Operation;

const changeWebhook = {
  ...ABOUT_ONE,
  id: 'changeWebhook',
  method: 'patch',
  path: '/webhooks/{id}',
  summary: 'Change a webhook, or enable it again',
  description:
    'Only the given fields change. Waiting deliveries go to the new URL. A delivery that is under way still goes to the old one.',
  body: webhooks.webhookChangeSchema,
  answer: webhooks.webhookSchema,
  refusals: ['webhook_url_not_allowed', 'webhook_not_found'],
} as const satisfies Operation;

const deleteWebhook = {
  ...ABOUT_ONE,
  id: 'deleteWebhook',
  method: 'delete',
  path: '/webhooks/{id}',
  summary: 'Delete a webhook and everything that waits for it',
  description: 'The texts stay in the history.',
  refusals: ['webhook_not_found'],
} as const satisfies Operation;

const rotateWebhook = {
  ...ABOUT_ONE,
  id: 'rotateWebhookSecret',
  method: 'post',
  path: '/webhooks/{id}/rotate',
  summary: 'Get a new secret; the old one signs too for a day',
  description:
    'For 24 hours each delivery has both signatures, so that receivers can change over. A second rotation ends the older secret at once.',
  answer: webhooks.webhookRotatedSchema,
  refusals: ['webhook_not_found'],
} as const satisfies Operation;

const testWebhook = {
  ...ABOUT_ONE,
  id: 'testWebhook',
  method: 'post',
  path: '/webhooks/{id}/test',
  summary: 'Send a test event now, and show what the receiver answered',
  description:
    'Sends one event of the type `webhook.test`, also to a disabled webhook. It is not repeated and not listed.',
  answer: webhooks.webhookTestedSchema,
  refusals: ['webhook_not_found'],
} as const satisfies Operation;

const listDeliveries = {
  ...ABOUT_ONE,
  id: 'listWebhookDeliveries',
  method: 'get',
  path: '/webhooks/{id}/deliveries',
  summary: 'List the deliveries of a webhook, newest first',
  description: 'Deliveries are kept for a week. Those of deleted texts are deleted with them.',
  query: webhooks.webhookDeliveriesQuerySchema,
  answer: webhooks.webhookDeliveriesSchema,
  refusals: ['webhook_not_found'],
} as const satisfies Operation;

const replayWebhook = {
  ...ABOUT_ONE,
  id: 'replayWebhook',
  method: 'post',
  path: '/webhooks/{id}/replay',
  summary: 'Send one delivery again, or all events since a time',
  description:
    'A replayed event has the same `webhook-id`, so that a receiver that has it can ignore it. ' +
    `Replays and tests of a number can send ${webhooks.REPLAYED_PER_HOUR_MAX} deliveries in any hour, over all its webhooks. ` +
    'A replay since a time that would send more sends the newest ones.',
  body: webhooks.webhookReplaySchema,
  answer: webhooks.webhookReplayedSchema,
  refusals: ['webhook_not_found', 'webhook_delivery_not_found'],
} as const satisfies Operation;

export const WEBHOOK_OPERATION = {
  addWebhook,
  listWebhooks,
  changeWebhook,
  deleteWebhook,
  rotateWebhook,
  testWebhook,
  listDeliveries,
  replayWebhook,
} as const satisfies Record<string, Operation>;
