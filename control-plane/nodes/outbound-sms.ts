// Sends one SMS: records it first, hands it to the node once, and returns when the carrier took it.
import { randomBytes } from 'node:crypto';
import { asSentence } from '#shared/error-message.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { isOfCarrier } from '#shared/sms/failure-class.ts';
import { segmentText } from '#shared/sms/segmentation.ts';
import type { Base } from '../bus/base.ts';
import { destinationNotAllowed } from '../domain/destination-policy.ts';
import { Refusal } from '../domain/refusal.ts';
import type { SendingLevel, SendingLimits } from '../domain/sending-limits.ts';
import type { Subscription } from '../domain/subscription.ts';
import { emitMetric, emitTextEnd, type SendOutcome } from '../metrics/metric-events.ts';
import type { Database } from '../store/database/database.ts';
import { locateNumber } from '../store/fleet/sims.ts';
import { messageIdOf, recordNoOutcome, recordOutcome } from '../store/messages/messages.ts';
import { admitSend, uncountSend } from '../store/messages/sending.ts';
import { forgetSentText } from '../store/messages/sent-texts.ts';
import { admitted } from './admitted-send.ts';
import type { Fleet } from './fleet.ts';
import { NodeUnavailable, rateLimited } from './node-link.ts';
import { whyUnserved } from './unserved.ts';

export interface OutboundParts extends Pick<Base, 'db' | 'bus' | 'clock' | 'log'>, SendingLimits {
  fleet: Fleet;
  segmentsMax: number;
  /** How long a request waits for the carrier. */
  sendTimeoutMs: number;
}

/** The node must begin within this part of the wait; the rest is for the carrier's response. */
const START_SHARE = 0.5;

/** Codes of a node that refuses the text itself. */
const SENDER_CODES: ReadonlySet<string> = new Set(['rate_limited', 'destination_not_allowed']);

/**
 * Sends `body` from the subscription's number. Throws `Refusal`. `phone_node_error`: the carrier did not take the message, or the outcome
 * is unknown. The history says which, and is corrected later. `rate_limited`: a limit of the number, or the node's limit for the SIM or the
 * recipient, is reached. `recipient_opted_out`: the recipient stopped the texts of this subscription. `destination_not_allowed`: the node's
 * operator allows fewer destinations than the service. `nearLimits`: the limits of the number that are nearly used.
 */
export async function sendSms(
  parts: OutboundParts,
  subscription: Subscription,
  sms: { to: string; body: string },
): Promise<{ messageId: string; status: 'queued'; nearLimits: readonly SendingLevel[] }> {
  const commandId = `msg_${randomBytes(12).toString('hex')}`;
  const startedAt = parts.clock.now();
  const count = (sent: SendOutcome): void =>
    emitMetric({
      kind: 'sms_sent',
      outcome: sent,
      seconds: Math.max(0, parts.clock.now() - startedAt) / 1000,
    });
  const publish = (): void =>
    parts.bus.publish({ kind: 'sms_status_changed', subscriptionId: subscription.id });
  const place = await locateNumber(parts.db, subscription.number);
  const slot = place?.boundTo === subscription.id ? place : undefined;
  // While the store admits the text, the instance that has the link is found.
  const link = slot && parts.fleet.reach(slot.nodeId);
  const text = { commandId, slot, subscriptionId: subscription.id, from: subscription.number, ...sms };
  const nearLimits = admitted(
    await admitSend(
      parts.db,
      { ...text, segments: segmentText(sms.body).segments.length, now: new Date(parts.clock.now()) },
      parts,
    ),
  );
  if (slot === undefined || link === undefined) {
    count('offline');
    publish();
    const now = new Date(parts.clock.now());
    const { advice, trouble } = await whyUnserved(parts.db, subscription.id, now);
    throw nodeError(`${trouble} The message was not sent. ${advice}`);
  }
  const outcome = await link
    .command(
      'send_sms',
      { iccid: slot.iccid, to: sms.to, body: sms.body, segments_max: parts.segmentsMax },
      {
        id: commandId,
        timeLeftMs: Math.floor(parts.sendTimeoutMs * START_SHARE),
        timeoutMs: parts.sendTimeoutMs,
      },
    )
    .catch((error: unknown) => giveUp(parts.db, commandId, { error, count }).finally(publish));
  count(outcome.status);
  try {
    const { end } = await recordOutcome(parts.db, commandId, outcome);
    emitTextEnd(end);
  } catch (error) {
    // The node's fact also records the outcome; the sender needs the carrier's response now.
    parts.log.error({ err: error, command: commandId }, 'recording the outcome of a send failed');
  }
  publish();
  return { ...answer(commandId, outcome), nearLimits };
}

function answer(commandId: string, outcome: SmsOutcome): { messageId: string; status: 'queued' } {
  switch (outcome.status) {
    case 'accepted':
      return { messageId: messageIdOf(commandId, outcome), status: 'queued' };
    case 'rejected':
      throw nodeError(`${refuserOf(outcome.code)}: ${asSentence(outcome.message)}`, {
        reason: outcome.code,
        ...(outcome.class === undefined ? {} : { class: outcome.class }),
      });
    case 'unknown':
      throw nodeError('The modem did not confirm the send. Check GET /sms/messages before you send again.');
  }
}

const refuserOf = (code: string): string =>
  isOfCarrier(code) ? 'The carrier refused the text' : 'The modem could not send the text';

async function giveUp(
  db: Database,
  commandId: string,
  { error, count }: { error: unknown; count: (sent: SendOutcome) => void },
): Promise<never> {
  if (error instanceof CommandRefusal) {
    count(error.code === 'rate_limited' ? 'rate_limited' : 'refused');
    const { end } = await recordNoOutcome(db, commandId, { status: 'failed', why: 'node_refused' });
    await uncountSend(db, commandId);
    // A text that its sender may not send says nothing about the slot.
    if (SENDER_CODES.has(error.code)) await forgetSentText(db, commandId);
    else emitTextEnd(end);
    if (error.code === 'rate_limited') throw rateLimited('sms', error);
    if (error.code === 'destination_not_allowed') throw destinationNotAllowed(error.message);
    throw nodeError(`The phone node could not send the text: ${error.message}`, { reason: error.code });
  }
  if (error instanceof NodeUnavailable) {
    count(error.isSent ? 'unknown' : 'offline');
    const { end } = await recordNoOutcome(
      db,
      commandId,
      error.isSent ? { status: 'unknown' } : { status: 'failed', why: 'node_offline' },
    );
    emitTextEnd(end);
    if (!error.isSent) await uncountSend(db, commandId);
    throw nodeError(
      error.isSent
        ? `The phone node did not answer: ${error.message}. Check GET /sms/messages before you send again.`
        : 'The phone node is offline. The message was not sent.',
    );
  }
  throw error;
}

const nodeError = (message: string, details: Record<string, unknown> = {}): Refusal =>
  new Refusal('phone_node_error', message, { details });
