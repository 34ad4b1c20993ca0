// Recent events for operators: of slots, and of one number. Never the text of a message.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface SlotHistoryEvent {
  node: string;
  slot: string;
  kind: string;
  detail: string;
  at: Date;
}

/** The last events that nodes reported: of all nodes, of one node or of one slot. Newest first. */
export async function listSlotEvents(
  db: Database,
  { node, slot, limit }: { node?: string; slot?: string; limit: number },
): Promise<SlotHistoryEvent[]> {
  return db
    .selectFrom('node_events')
    .select(['node_id as node', 'slot', 'kind', 'detail', 'at'])
    .$if(node !== undefined, (query) => query.where('node_id', '=', String(node)))
    .$if(slot !== undefined, (query) => query.where('slot', '=', String(slot)))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** One event in the history of a number. */
export interface NumberEvent {
  at: Date;
  kind: 'sms_sent' | 'sms_received' | 'call' | 'payment';
  /** The far end of a message or a call. */
  peer: string | null;
  /** State, status or reason, in the service's terms. */
  outcome: string | null;
  direction: 'inbound' | 'outbound' | null;
  durationMs: number | null;
  /** Of a payment. */
  payment: string | null;
}

/** The last messages, calls and payments of a number. Newest first. */
export async function listNumberEvents(db: Database, number: string, limit: number): Promise<NumberEvent[]> {
  const { rows } = await sql<NumberEvent>`
    (select created_at as at, case direction when 'sent' then 'sms_sent' else 'sms_received' end as kind,
      case direction when 'sent' then to_number else from_number end as peer, status as outcome,
      null as direction, null::bigint as "durationMs", null as payment
    from messages where subscription_id = (select id from subscriptions where number = ${number})
    order by created_at desc, id desc limit ${limit})
    union all
    (select started_at, 'call', peer, coalesce(reason, state), direction,
      (extract(epoch from ended_at - answered_at) * 1000)::bigint, null
    from calls where number = ${number} order by started_at desc limit ${limit})
    union all
    (select payment_events.at, 'payment', null, payment_events.state, null, null, payments.id
    from (select id from payments where reserved_number = ${number} union
      select id from payments where subscription_id = (select id from subscriptions where number = ${number})) as payments
    join payment_events on payment_events.payment_id = payments.id
    order by payment_events.id desc limit ${limit})
    order by at desc limit ${limit}`.execute(db);
  return rows;
}
