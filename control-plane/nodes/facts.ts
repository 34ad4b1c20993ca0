// What a node's facts do to the store. Applying one twice is applying it once.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { BusEvent } from '../bus/bus.ts';
import { withoutNul } from '../domain/storable-text.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import {
  insertReceived,
  insertUnreadable,
  type ReceivedMessage,
  recordReport,
  settleOutcome,
} from '../store/messages.ts';

/** A fact and its identity: node, journal, position. */
export interface KeyedFact {
  key: string;
  fact: Fact;
}

/**
 * Applies facts that came in this order; returns what the others should hear once it is committed,
 * and how many received messages were of SIMs whose number nobody holds: they are not kept.
 */
export async function applyFacts(
  trx: DatabaseTransaction,
  facts: readonly KeyedFact[],
  now: Date,
): Promise<{ events: BusEvent[]; unheld: number }> {
  const received: ReceivedMessage[] = [];
  for (const { key, fact } of facts) {
    if (fact.kind === 'sms_received') received.push(toReceived(key, fact));
    else await applyFact(trx, key, fact);
  }
  const { subscriptionIds, unheld } = await insertReceived(trx, received, now);
  const events = [...subscriptionIds].map((subscriptionId) => ({
    kind: 'sms_received' as const,
    subscriptionId,
  }));
  return { events, unheld };
}

async function applyFact(
  trx: DatabaseTransaction,
  factKey: string,
  fact: Exclude<Fact, { kind: 'sms_received' }>,
): Promise<void> {
  switch (fact.kind) {
    case 'sms_unreadable':
      await insertUnreadable(trx, {
        factKey,
        iccid: fact.iccid,
        pdu: withoutNul(fact.pdu),
        reason: withoutNul(fact.reason),
        receivedAt: new Date(fact.received_at),
      });
      return;
    case 'sms_outcome':
      await settleOutcome(trx, fact.command_id, fact.outcome);
      return;
    case 'sms_report':
      if (fact.command_id !== null && fact.status !== 'pending') {
        const { status, message_reference: reference, part, parts } = fact;
        await recordReport(trx, fact.command_id, { status, reference, part, parts });
      }
      return;
  }
}

function toReceived(factKey: string, fact: FactOf<'sms_received'>): ReceivedMessage {
  return {
    factKey,
    iccid: fact.iccid,
    from: withoutNul(fact.from),
    body: withoutNul(fact.body),
    partial: fact.partial,
    receivedAt: new Date(fact.received_at),
  };
}
