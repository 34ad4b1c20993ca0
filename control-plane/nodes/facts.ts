// Applies a node's facts to the store. Applying a fact twice has the effect of applying it once.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { AudioStatistics } from '#shared/voice/call.ts';
import type { BusEvent } from '../bus/bus.ts';
import { probeTokenIn } from '../domain/probe-text.ts';
import type { DatabaseTransaction } from '../store/database/database.ts';
import { reportedTime, storableText } from '../store/database/reported-values.ts';
import { CLOCK_ERROR_MAX_MS, SERVICE_CENTRE_KEEPS_MS, ZONE_ERROR_MAX_MS } from '../store/fleet/holdings.ts';
import type { KeyedFact } from '../store/fleet/waiting-facts.ts';
import { endCall } from '../store/messages/call-ends.ts';
import {
  insertReceived,
  insertUnreadable,
  isSentBy,
  type ReceivedMessage,
  recordOutcome,
  recordReport,
  type UnassignedMessages,
} from '../store/messages/messages.ts';
import type { SentChange, TextEnd } from '../store/messages/sent-texts.ts';
import { recordArrival } from '../store/operations/probes.ts';

const nodeOf = (key: string): string => String(key.split('/')[0]);

const storableCall = (fact: FactOf<'call_ended'>): FactOf<'call_ended'> => ({
  ...fact,
  peer: fact.peer === null ? null : storableText(fact.peer),
});

/** The applied facts, and how many received texts belong to no subscription. */
interface Applied extends UnassignedMessages {
  /** To publish after the commit. */
  events: BusEvent[];
  /** Audio statistics of subscribers' calls that ended. */
  audio: AudioStatistics[];
  /** Texts of subscriptions that ended. */
  ends: TextEnd[];
}

/**
 * Applies facts in the order in which they came. Texts that belong to no subscription are not kept.
 */
export async function applyFacts(
  trx: DatabaseTransaction,
  facts: readonly KeyedFact[],
  now: Date,
): Promise<Applied> {
  const received: ReceivedMessage[] = [];
  const events: BusEvent[] = [];
  const audio: AudioStatistics[] = [];
  const ends: TextEnd[] = [];
  for (const { key, fact } of facts) {
    if (fact.kind === 'sms_received') {
      const message = toReceived(key, fact, now);
      const probeId = await arrivedProbe(trx, message, now);
      if (probeId === undefined) received.push(message);
      else events.push({ kind: 'probe_arrived', probeId });
    } else if (fact.kind === 'call_ended') {
      const ended = await endCall(trx, nodeOf(key), storableCall(fact), now);
      if (ended?.end !== undefined) events.push({ kind: 'call_ended', call: ended.end });
      if (ended?.isCustomers === true && fact.audio !== null) audio.push(fact.audio);
    } else {
      const { subscriptionId, end } = await applyFact(trx, key, fact, now);
      if (end !== undefined) ends.push(end);
      if (subscriptionId !== undefined) events.push({ kind: 'sms_status_changed', subscriptionId });
    }
  }
  const { subscriptionIds, ...unassigned } = await insertReceived(trx, received, now);
  for (const subscriptionId of subscriptionIds) events.push({ kind: 'sms_received', subscriptionId });
  return { events, audio, ends, ...unassigned };
}

/** The probe that a text belongs to. Such a text is not a message for the number's subscriber. */
async function arrivedProbe(
  trx: DatabaseTransaction,
  { iccid, from, body, factKey, mms, partial }: ReceivedMessage,
  now: Date,
): Promise<string | undefined> {
  // A probe has one segment.
  const token = partial || mms !== null ? undefined : probeTokenIn(body);
  return token && recordArrival(trx, { token, iccid, from, factKey }, now);
}

const NO_CHANGE: SentChange = { subscriptionId: undefined, end: undefined };

/** Returns what changed of a sent text. */
async function applyFact(
  trx: DatabaseTransaction,
  factKey: string,
  fact: Exclude<Fact, { kind: 'sms_received' | 'call_ended' }>,
  now: Date,
): Promise<SentChange> {
  switch (fact.kind) {
    case 'sms_unreadable':
      await insertUnreadable(trx, {
        factKey,
        iccid: fact.iccid,
        pdu: storableText(fact.pdu),
        reason: storableText(fact.reason),
        receivedAt: receivedAt(fact.received_at, null, now),
      });
      return NO_CHANGE;
    case 'sms_outcome':
      return (await isSentBy(trx, nodeOf(factKey), fact.command_id))
        ? recordOutcome(trx, fact.command_id, fact.outcome)
        : NO_CHANGE;
    case 'sms_report':
      if (fact.command_id === null || fact.status === 'pending') return NO_CHANGE;
      if (await isSentBy(trx, nodeOf(factKey), fact.command_id)) {
        const { status, tp_status: tpStatus, message_reference: reference, part, parts } = fact;
        return recordReport(trx, fact.command_id, { status, tpStatus, reference, part, parts, now });
      }
      return NO_CHANGE;
  }
}

const storableMms = (
  mms: NonNullable<FactOf<'sms_received'>['mms']>,
): NonNullable<ReceivedMessage['mms']> => ({
  ...mms,
  transaction_id: storableText(mms.transaction_id),
});

function toReceived(factKey: string, fact: FactOf<'sms_received'>, now: Date): ReceivedMessage {
  return {
    factKey,
    iccid: fact.iccid,
    from: storableText(fact.from),
    body: storableText(fact.body),
    partial: fact.partial,
    mms: fact.mms === undefined ? null : storableMms(fact.mms),
    receivedAt: receivedAt(fact.received_at, fact.sent_at, now),
    ...timesOf(fact, now),
  };
}

/**
 * The time at which the node received the message, by its possibly wrong clock: at most `now`. If it is a day before the service center's
 * time, the service center's time.
 */
function receivedAt(reported: string, sentAt: string | null, now: Date): Date {
  const received = reportedTime(reported, now);
  const sent = sentAt === null ? Number.NaN : Date.parse(sentAt);
  const isImpossible = sent <= now.getTime() && received.getTime() < sent - ZONE_ERROR_MAX_MS;
  return isImpossible ? new Date(sent) : received;
}

/** The known times of a text. A stamp that cannot be right counts as missing. */
function timesOf(
  { received_at, sent_at, arrived_after }: FactOf<'sms_received'>,
  now: Date,
): Pick<ReceivedMessage, 'sentAt' | 'readAt' | 'arrivedAfter'> {
  const readAt = reportedTime(received_at, now);
  const after = arrived_after === undefined ? Number.NaN : Date.parse(arrived_after);
  const arrivedAfter = after <= readAt.getTime() ? new Date(after) : null;
  const sent = sent_at === null ? Number.NaN : Date.parse(sent_at);
  const isFuture = sent > now.getTime() + CLOCK_ERROR_MAX_MS;
  const isKeptTooLong = arrivedAfter !== null && sent < arrivedAfter.getTime() - SERVICE_CENTRE_KEEPS_MS;
  const isUsable = !Number.isNaN(sent) && !isFuture && !isKeptTooLong;
  return { sentAt: isUsable ? new Date(sent) : null, readAt, arrivedAfter };
}
