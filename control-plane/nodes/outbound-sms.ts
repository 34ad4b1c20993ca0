// One SMS from request to carrier: noted first, handed to the node once, answered when the carrier took it.
import { randomBytes } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import type { Logger } from '#shared/log.ts';
import { destinationNotAllowed } from '../domain/destination-policy.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { observe, type SendOutcome } from '../metrics/observation.ts';
import type { Database } from '../store/database/database.ts';
import { locateNumber } from '../store/fleet/sims.ts';
import { insertSending, messageIdOf, recordOutcome, setUnsettled } from '../store/messages/messages.ts';
import { type Fleet, NodeUnavailable } from './fleet.ts';
import { CommandRefused } from './pending-commands.ts';

export interface OutboundParts {
  db: Database;
  fleet: Fleet;
  clock: Clock;
  log: Logger;
  segmentsMax: number;
  /** How long a request waits for the carrier. */
  sendTimeoutMs: number;
}

/** The part of the wait in which the node may still begin; the rest is for the carrier to answer. */
const START_SHARE = 0.5;

/** Of a node that refuses for its rate limit and does not say for how long. */
const RATE_LIMIT_WAIT_MS = 60_000;

/**
 * Sends `body` from the subscription's number. Throws `Refusal` `phone_node_error` when the carrier did
 * not take it, or when nobody knows; the history says which, and learns later what really happened.
 * Throws `Refusal` `rate_limited` when the node's limit for the SIM or the recipient is reached, and `destination_not_allowed` when
 * its operator allows fewer destinations than the service.
 */
export async function sendSms(
  parts: OutboundParts,
  subscription: Subscription,
  sms: { to: string; body: string },
): Promise<{ messageId: string; status: 'queued' }> {
  const commandId = `msg_${randomBytes(12).toString('hex')}`;
  const startedAt = parts.clock.now();
  const tell = (sent: SendOutcome): void =>
    observe({ kind: 'sms_sent', outcome: sent, seconds: Math.max(0, parts.clock.now() - startedAt) / 1000 });
  const place = await locateNumber(parts.db, subscription.number);
  const isBound = place?.boundTo === subscription.id;
  const link = isBound ? parts.fleet.find(place.nodeId) : undefined;
  await insertSending(parts.db, {
    commandId,
    nodeId: link?.nodeId,
    subscriptionId: subscription.id,
    from: subscription.number,
    to: sms.to,
    body: sms.body,
    now: new Date(parts.clock.now()),
  });
  if (place === undefined || link === undefined) {
    tell('offline');
    throw nodeError(isBound ? 'the phone node is offline' : 'the number is being provisioned');
  }
  const outcome = await link
    .command(
      'send_sms',
      { iccid: place.iccid, to: sms.to, body: sms.body, segments_max: parts.segmentsMax },
      {
        id: commandId,
        timeLeftMs: Math.floor(parts.sendTimeoutMs * START_SHARE),
        timeoutMs: parts.sendTimeoutMs,
      },
    )
    .catch((error: unknown) => giveUp(parts.db, commandId, { error, tell }));
  tell(outcome.status);
  await recordOutcome(parts.db, commandId, outcome).catch((error: unknown) =>
    // The node's fact settles it as well; the carrier's answer is what the sender needs to know now.
    parts.log.error({ err: error, command: commandId }, 'cannot settle a send yet'),
  );
  return answer(commandId, outcome);
}

function answer(commandId: string, outcome: SmsOutcome): { messageId: string; status: 'queued' } {
  switch (outcome.status) {
    case 'accepted':
      return { messageId: messageIdOf(commandId, outcome), status: 'queued' };
    case 'rejected':
      throw nodeError(`${refuserOf(outcome.code)}: ${outcome.message}`, {
        reason: outcome.code,
        ...(outcome.class === undefined ? {} : { class: outcome.class }),
      });
    case 'unknown':
      throw nodeError(
        'nobody knows whether the message was sent; /sms/messages will tell if it becomes known',
      );
  }
}

// 3GPP TS 27.005 §3.2.5: what the message service says; everything else is said by the modem or the node.
const refuserOf = (code: string): string =>
  code.startsWith('cms_') ? 'the carrier refused the message' : 'the modem could not send';

async function giveUp(
  db: Database,
  commandId: string,
  { error, tell }: { error: unknown; tell: (sent: SendOutcome) => void },
): Promise<never> {
  if (error instanceof CommandRefused) {
    tell(error.code === 'rate_limited' ? 'rate_limited' : 'refused');
    await setUnsettled(db, commandId, { status: 'failed' });
    if (error.code === 'rate_limited') throw rateLimited(error);
    if (error.code === 'destination_not_allowed') throw destinationNotAllowed(error.message);
    throw nodeError(`the phone node could not send: ${error.message}`, { reason: error.code });
  }
  if (error instanceof NodeUnavailable) {
    tell(error.isSent ? 'unknown' : 'offline');
    await setUnsettled(db, commandId, { status: error.isSent ? 'unknown' : 'failed' });
    throw nodeError(`the phone node did not answer: ${error.message}`);
  }
  throw error;
}

function rateLimited({ message, retryAfterMs }: CommandRefused): Refusal {
  observe({ kind: 'rate_limited', limit: 'sms' });
  const seconds = Math.max(1, Math.ceil((retryAfterMs ?? RATE_LIMIT_WAIT_MS) / 1000));
  return new Refusal('rate_limited', message, { headers: { 'Retry-After': String(seconds) } });
}

const nodeError = (message: string, details: Record<string, unknown> = {}): Refusal =>
  new Refusal('phone_node_error', message, { details });
