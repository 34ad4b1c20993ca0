// Applies a node's facts to the store. Applying a fact twice has the effect of applying it once.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { BusEvent } from '../bus/bus.ts';
import { probeTokenIn } from '../domain/probe-text.ts';
import { type DatabaseTransaction, storableText } from '../store/database/database.ts';
import { CLOCK_ERROR_MAX_MS, SERVICE_CENTRE_KEEPS_MS, ZONE_ERROR_MAX_MS } from '../store/fleet/holdings.ts';
import type { KeyedFact } from '../store/fleet/waiting-facts.ts';
import { endCall } from '../store/messages/calls.ts';
import {
  insertReceived,
  insertUnreadable,
  isSentBy,
  type ReceivedMessage,
  recordOutcome,
  recordReport,
  type UnassignedMessages,
} from '../store/messages/messages.ts';
import { recordArrival } from '../store/operations/probes.ts';

const nodeOf = (key: string): string => String(key.split('/')[0]);

const storableCall = (fact: FactOf<'call_ended'>): FactOf<'call_ended'> => ({
  ...fact,
  peer: fact.peer === null ? null : storableText(fact.peer),
});

/**
 * Applies facts in the order in which they came. Returns the events to publish after the commit, and how many received messages belong to
 * no subscription: those are not kept.
 */
export async function applyFacts(
  trx: DatabaseTransaction,
  facts: readonly KeyedFact[],
  now: Date,
): Promise<{ events: BusEvent[] } & UnassignedMessages> {
  const received: ReceivedMessage[] = [];
  const events: BusEvent[] = [];
  for (const { key, fact } of facts) {
    if (fact.kind === 'sms_received') {
      const message = toReceived(key, fact, now);
      const probeId = await arrivedProbe(trx, message, now);
      if (probeId === undefined) received.push(message);
      else events.push({ kind: 'probe_arrived', probeId });
    } else if (fact.kind === 'call_ended') {
      const call = await endCall(trx, nodeOf(key), storableCall(fact), now);
      if (call !== undefined) events.push({ kind: 'call_ended', call });
    } else await applyFact(trx, key, fact, now);
  }
  const { subscriptionIds, ...unassigned } = await insertReceived(trx, received, now);
  for (const subscriptionId of subscriptionIds) events.push({ kind: 'sms_received', subscriptionId });
  return { events, ...unassigned };
}

/** The probe that a text belongs to. Such a text is not a message for the number's subscriber. */
async function arrivedProbe(
  trx: DatabaseTransaction,
  { iccid, from, body }: ReceivedMessage,
  now: Date,
): Promise<string | undefined> {
  const token = probeTokenIn(body);
  return token === undefined ? undefined : await recordArrival(trx, { token, iccid, from }, now);
}

async function applyFact(
  trx: DatabaseTransaction,
  factKey: string,
  fact: Exclude<Fact, { kind: 'sms_received' | 'call_ended' }>,
  now: Date,
): Promise<void> {
  switch (fact.kind) {
    case 'sms_unreadable':
      await insertUnreadable(trx, {
        factKey,
        iccid: fact.iccid,
        pdu: storableText(fact.pdu),
        reason: storableText(fact.reason),
        receivedAt: receivedAt(fact.received_at, null, now),
      });
      return;
    case 'sms_outcome':
      if (await isSentBy(trx, nodeOf(factKey), fact.command_id))
        await recordOutcome(trx, fact.command_id, fact.outcome);
      return;
    case 'sms_report':
      if (fact.command_id === null || fact.status === 'pending') return;
      if (await isSentBy(trx, nodeOf(factKey), fact.command_id)) {
        const { status, message_reference: reference, part, parts } = fact;
        await recordReport(trx, fact.command_id, { status, reference, part, parts });
      }
      return;
  }
}

function toReceived(factKey: string, fact: FactOf<'sms_received'>, now: Date): ReceivedMessage {
  return {
    factKey,
    iccid: fact.iccid,
    from: storableText(fact.from),
    body: storableText(fact.body),
    partial: fact.partial,
    receivedAt: receivedAt(fact.received_at, fact.sent_at, now),
    ...timesOf(fact, now),
  };
}

/**
 * The time at which the node received the message, by its possibly wrong clock: at most `now`. If it is a day before the service centre's
 * time, the service centre's time.
 */
function receivedAt(reported: string, sentAt: string | null, now: Date): Date {
  const received = Math.min(Date.parse(reported), now.getTime());
  const sent = sentAt === null ? Number.NaN : Date.parse(sentAt);
  const isImpossible = sent <= now.getTime() && received < sent - ZONE_ERROR_MAX_MS;
  return new Date(isImpossible ? sent : received);
}

/** The known times of a text. A stamp that cannot be right counts as missing. */
function timesOf(
  { received_at, sent_at, arrived_after }: FactOf<'sms_received'>,
  now: Date,
): Pick<ReceivedMessage, 'sentAt' | 'readAt' | 'arrivedAfter'> {
  const readAt = new Date(Math.min(Date.parse(received_at), now.getTime()));
  const after = arrived_after === undefined ? Number.NaN : Date.parse(arrived_after);
  const arrivedAfter = after <= readAt.getTime() ? new Date(after) : null;
  const sent = sent_at === null ? Number.NaN : Date.parse(sent_at);
  const isFuture = sent > now.getTime() + CLOCK_ERROR_MAX_MS;
  const isKeptTooLong = arrivedAfter !== null && sent < arrivedAfter.getTime() - SERVICE_CENTRE_KEEPS_MS;
  const isUsable = !Number.isNaN(sent) && !isFuture && !isKeptTooLong;
  return { sentAt: isUsable ? new Date(sent) : null, readAt, arrivedAfter };
}
