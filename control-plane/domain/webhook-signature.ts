// Signatures of webhooks: Standard Webhooks, scheme v1 (HMAC-SHA256 over `id.timestamp.body`).
import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** Within the 24 to 64 bytes of the specification. */
const SECRET_BYTES = 32;

/** A new secret. */
export const mintWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

/** The key of a `whsec_` secret. */
export const webhookKeyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64');

/** Signs `id.timestamp.body`. `timestamp`: seconds since the Unix epoch. */
export function webhookSignatureOf(key: Buffer, id: string, timestamp: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
