// Alerts for programs: a signed POST, as the webhooks of subscribers are.
import type { Clock } from '#shared/clock.ts';
import { createPoster, type PostResult } from '../webhooks/poster.ts';
import type { AlertChannel, Delivery } from './alert-channel.ts';
import { alertBody, type Sender } from './alert-message.ts';

const TIMEOUT_MS = 10_000;

interface WebhookSettings {
  url: string;
  /** Key of the signature. */
  secret: Buffer;
  clock: Clock;
}

const OUTCOMES = {
  delivered: 'sent',
  gone: 'gone',
  refused: 'refused',
  timeout: 'unavailable',
  unreachable: 'unavailable',
  not_allowed: 'unavailable',
  stopped: 'unavailable',
} as const satisfies Record<PostResult['outcome'], Delivery['outcome']>;

export function createWebhook({ url, secret, clock }: WebhookSettings, sender: Sender): AlertChannel {
  // The receiver is the operator's own.
  const poster = createPoster({
    userAgent: 'simrack-alerts',
    timeoutMs: TIMEOUT_MS,
    allowsPrivate: true,
    clock,
  });
  return {
    name: 'webhook',
    async send(message, { isTest, signal }) {
      const body = alertBody(message, sender, isTest);
      const post = { url, keys: [secret], id: message.id, body };
      const { error, outcome, retryAfterMs, status } = await poster.post(post, signal);
      return {
        outcome: OUTCOMES[outcome],
        detail: error ?? `HTTP ${status}`,
        ...(retryAfterMs > 0 && { retryAfterMs }),
      };
    },
  };
}
