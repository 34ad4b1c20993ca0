// What a node's fact does to the store. Applying one twice is applying it once.
import type { Fact } from '#shared/link/messages.ts';
import type { DatabaseTransaction } from '../store/database.ts';
import { insertReceived, insertUnreadable, recordReport, settleOutcome } from '../store/messages.ts';

export async function applyFact(
  trx: DatabaseTransaction,
  fact: Fact,
  origin: { factKey: string; now: Date },
): Promise<void> {
  switch (fact.kind) {
    case 'sms_received':
      await insertReceived(trx, {
        factKey: origin.factKey,
        iccid: fact.iccid,
        from: withoutNul(fact.from),
        body: withoutNul(fact.body),
        partial: fact.partial,
        receivedAt: new Date(fact.received_at),
        now: origin.now,
      });
      return;
    case 'sms_unreadable':
      await insertUnreadable(trx, {
        factKey: origin.factKey,
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

// UCS-2 can carry U+0000, Postgres text cannot.
const withoutNul = (text: string): string => text.replaceAll('\u0000', '\ufffd');
