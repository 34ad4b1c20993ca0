// Alerts for programs: a signed POST according to Standard Webhooks (webhook-id, -timestamp, -signature).

import { linkedSignal } from '#shared/process/linked-signal.ts';
import { retryAfterMsOf } from '#shared/retry-after.ts';
import { webhookSignatureOf } from '../domain/webhook-signature.ts';
import type { AlertChannel, Delivery } from './alert-channel.ts';
import { alertBody, type Sender } from './alert-message.ts';

const TIMEOUT_MS = 10_000;

interface WebhookSettings {
  url: string;
  /** Key of the signature. */
  secret: Buffer;
}

export function createWebhook({ url, secret }: WebhookSettings, sender: Sender): AlertChannel {
  return {
    name: 'webhook',
    async send(message, { isTest, signal }) {
      const body = alertBody(message, sender, isTest);
      // The receiver compares it with its own clock, and the timeouts of sockets are in real time too.
      const timestamp = Math.floor(Date.now() / 1000);
      const linked = linkedSignal(signal, AbortSignal.timeout(TIMEOUT_MS));
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/json',
            'User-Agent': 'simrack-alerts',
            'webhook-id': message.id,
            'webhook-timestamp': String(timestamp),
            'webhook-signature': webhookSignatureOf(secret, message.id, timestamp, body),
          },
          body,
          // The signature is for this receiver only.
          redirect: 'manual',
          signal: linked.signal,
        });
        await response.body?.cancel();
        return deliveryOf(response);
      } catch (error) {
        return { outcome: 'unavailable', detail: reasonOf(error) };
      } finally {
        linked.unlink();
      }
    },
  };
}

function deliveryOf({ status, ok, headers }: Response): Delivery {
  const detail = `HTTP ${status}`;
  if (ok) return { outcome: 'sent', detail };
  if (status === 410) return { outcome: 'gone', detail };
  if (status >= 300 && status < 400)
    return { outcome: 'refused', detail: `${detail}: redirects are not followed` };
  const retryAfterMs = retryAfterMsOf(headers.get('retry-after'), new Date());
  return { outcome: 'refused', detail, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Error texts contain addresses; error codes do not. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no response in ${TIMEOUT_MS / 1000} s`;
  if (error instanceof Error && error.name === 'AbortError') return 'the service is stopping';
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : 'no connection';
}
