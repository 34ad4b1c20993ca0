// Examines NATS without the service: connects, and answers its own request.
import { randomUUID } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import { connectionOptions, type NatsOptions } from './nats-options.ts';

interface SeenNats {
  /** Version of the server. */
  version: string;
  /** Time from the request to its reply. */
  roundTripMs: number;
}

/** `prefix`: first word of the subject. Rejects with the error of NATS. */
export async function examineNats(
  options: NatsOptions,
  { prefix, timeoutMs }: { prefix: string; timeoutMs: number },
): Promise<SeenNats> {
  const connection = await connect({
    ...(await connectionOptions(options)),
    name: 'simrack-check',
    timeout: timeoutMs,
    reconnect: false,
  });
  try {
    const subject = `${prefix}.check-${randomUUID()}`;
    connection.subscribe(subject, { callback: (_error, message) => void message.respond(message.data) });
    await connection.flush();
    const beganAt = performance.now();
    await connection.request(subject, 'check', { timeout: timeoutMs });
    return {
      version: connection.info?.version ?? 'unknown',
      roundTripMs: performance.now() - beganAt,
    };
  } finally {
    void connection.close().catch(() => undefined);
  }
}
