// What a node's fact does to the store. Applying one twice is applying it once.
import type { Fact } from '#shared/link/messages.ts';
import type { BusEvent } from '../bus/bus.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import { insertReceived, insertUnreadable, recordReport, settleOutcome } from '../store/messages.ts';

/** Returns what the others should hear once the transaction is committed. */
export async function applyFact(
  trx: DatabaseTransaction,
  fact: Fact,
  origin: { factKey: string; now: Date },
): Promise<BusEvent | undefined> {
  switch (fact.kind) {
    case 'sms_received': {
      const subscriptionId = await insertReceived(trx, {
        factKey: origin.factKey,
        iccid: fact.iccid,
        from: withoutNul(fact.from),
        body: withoutNul(fact.body),
        partial: fact.partial,
        receivedAt: new Date(fact.received_at),
        now: origin.now,
      });
      return subscriptionId === undefined ? undefined : { kind: 'sms_received', subscriptionId };
    }
    case 'sms_unreadable':
      await insertUnreadable(trx, {
        factKey: origin.factKey,
        iccid: fact.iccid,
        pdu: withoutNul(fact.pdu),
        reason: withoutNul(fact.reason),
        receivedAt: new Date(fact.received_at),
      });
      return undefined;
    case 'sms_outcome':
      await settleOutcome(trx, fact.command_id, fact.outcome);
      return undefined;
    case 'sms_report':
      if (fact.command_id !== null && fact.status !== 'pending') {
        await recordReport(trx, fact.command_id, fact.status);
      }
      return undefined;
  }
}

// UCS-2 can carry U+0000, Postgres text cannot.
const withoutNul = (text: string): string => text.replaceAll('\u0000', '\ufffd');
