// What a node's facts do to the store. Applying one twice is applying it once.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { BusEvent } from '../bus/bus.ts';
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

/** Applies facts that came in this order; returns what the others should hear once it is committed. */
export async function applyFacts(
  trx: DatabaseTransaction,
  facts: readonly KeyedFact[],
  now: Date,
): Promise<BusEvent[]> {
  const received: ReceivedMessage[] = [];
  for (const { key, fact } of facts) {
    if (fact.kind === 'sms_received') received.push(toReceived(key, fact));
    else await applyFact(trx, key, fact);
  }
  const subscriptionIds = await insertReceived(trx, received, now);
  return [...subscriptionIds].map((subscriptionId) => ({ kind: 'sms_received', subscriptionId }));
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
        await recordReport(trx, fact.command_id, fact.status);
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

// UCS-2 can carry U+0000, Postgres text cannot.
const withoutNul = (text: string): string => text.replaceAll('\u0000', '\ufffd');
