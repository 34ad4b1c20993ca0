// The history of one number, for operators. Never the text of a message.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export type NumberEventKind =
  | ('sms_sent' | 'sms_received' | 'call' | 'payment')
  /** The first payment of its subscriber, and the end of the grace time. */
  | ('sold' | 'given_up' | 'expired')
  /** `other` is the number that it replaced, or that replaced it. */
  | ('reassigned_here' | 'reassigned_away')
  /** A change by an operator: `outcome` is the procedure. */
  | 'change'
  /** The `number_down` alert of its subscriber. */
  | ('outage' | 'outage_over')
  /** Its SIM came to another node. */
  | 'came_to_node'
  /** The node reported it of the slot of its SIM: `outcome` is its words. */
  | 'slot';

/** One event in the history of a number. */
export interface NumberEvent {
  at: Date;
  kind: NumberEventKind;
  /** The far end of a message or a call. */
  peer: string | null;
  /** State, status or reason, in the service's terms. */
  outcome: string | null;
  direction: 'inbound' | 'outbound' | null;
  durationMs: number | null;
  /** Id of a payment. */
  payment: string | null;
  /** Another number of the service. */
  other: string | null;
  /** Where its SIM came to, or was. */
  node: string | null;
  slot: string | null;
  /** The values that an operator changed. */
  detail: Record<string, unknown> | null;
}

/** A modem that fails again and again must not fill the list. */
const SLOT_EVENTS_MAX = 10;

/** Reassignments that concern the number. */
const REASSIGNED = (number: string) => sql`
  select subject, at, detail ->> 'from' as former, detail ->> 'to' as present, detail
  from audit_log where action = 'reassignNumber' and result = 'ok'
    and (detail ->> 'from' = ${number} or detail ->> 'to' = ${number})`;

/** The times in which subscriptions had the number: the present one, and those that got another. */
const STINTS = (number: string) => sql`
  select id as subscription_id, coalesce((select max(at) from reassigned where subject = id and present = ${number}),
    '-infinity') as since, 'infinity'::timestamptz as until
  from subscriptions where number = ${number}
  union all
  select subject, coalesce((select max(earlier.at) from reassigned as earlier
    where earlier.subject = reassigned.subject and earlier.present = ${number} and earlier.at < reassigned.at),
    '-infinity'), at
  from reassigned where former = ${number}`;

/** The last events of a number, under each subscriber that had it. Newest first. */
export async function listNumberEvents(
  db: Database,
  number: string,
  { limit, now }: { limit: number; now: Date },
): Promise<NumberEvent[]> {
  const { rows } = await sql<NumberEvent>`
    with reassigned as (${REASSIGNED(number)}), stints as (${STINTS(number)}),
    texts as (
      select text.* from stints cross join lateral (
        select created_at, direction, to_number, from_number, status from messages
        where messages.subscription_id = stints.subscription_id and created_at >= since and created_at < until
        order by created_at desc, id desc limit ${limit}) as text
    ), called as (
      select * from calls where number = ${number} order by started_at desc limit ${limit}
    ), paid as (
      select payment_events.at, payment_events.state, payment_id from stints
      join payments on payments.subscription_id = stints.subscription_id
      join payment_events on payment_events.payment_id = payments.id
      where payment_events.at >= since and payment_events.at < until
      union
      select payment_events.at, payment_events.state, payment_id
      from payments join payment_events on payment_events.payment_id = payments.id where reserved_number = ${number}
    ), changed as (
      select at, action, detail, true as is_shown from audit_log where subject = ${number} and result = 'ok'
      union all
      select at, action, detail, action <> 'reassignNumber' from stints
      join audit_log on audit_log.subject = stints.subscription_id and result = 'ok' and at >= since and at <= until
    ), outages as (
      select alerts.since, recovered_at, summary from stints
      join alerts on kind = 'number_down' and subject = stints.subscription_id and raised_at is not null
        and alerts.since >= stints.since and alerts.since < stints.until
    ), former as (
      select held_from, held_until from former_holdings where number = ${number} and held_from < held_until
        and not exists (select from reassigned where former = ${number} and at between
          held_until - interval '1 minute' and held_until + interval '1 minute')
    ), tenures as (
      select sim_tenures.* from numbers join sim_tenures on sim_tenures.iccid = numbers.iccid where numbers.number = ${number}
    ), slot_events as (
      select node_events.* from tenures join node_events on node_events.node_id = tenures.node_id
        and node_events.slot = tenures.slot and received_at >= since and received_at <= coalesce(until, 'infinity')
      order by node_events.id desc limit ${SLOT_EVENTS_MAX}
    ), events as (
      select created_at as at, case direction when 'sent' then 'sms_sent' else 'sms_received' end as kind,
        case direction when 'sent' then to_number else from_number end as peer, status as outcome,
        null as direction, null::bigint as "durationMs", null as payment, null as other, null as node, null as slot, null::jsonb as detail
      from texts
      union all select started_at, 'call', peer, coalesce(reason, state), direction,
        (extract(epoch from ended_at - answered_at) * 1000)::bigint, null, null, null, null, null from called
      union all select at, 'payment', null, state, null, null, payment_id, null, null, null, null from paid
      union all select created_at, 'sold', null, null, null, null, null, null, null, null, null
        from stints join subscriptions on id = subscription_id where since = '-infinity'
      union all select held_from, 'sold', null, null, null, null, null, null, null, null, null from former
        where not exists (select from reassigned where present = ${number} and at between held_from and held_until)
      union all select held_until, 'given_up', null, null, null, null, null, null, null, null, null from former
      union all select expires_at, 'expired', null, null, null, null, null, null, null, null, null
        from subscriptions where number = ${number} and expires_at <= ${now}::timestamptz
          and not exists (select from changed where action = 'endSubscription' and at between
            expires_at - interval '1 minute' and expires_at + interval '1 minute')
      union all select at, case present when ${number} then 'reassigned_here' else 'reassigned_away' end, null, null,
        null, null, null, case present when ${number} then former else present end, null, null, detail from reassigned
      union all select at, 'change', null, action, null, null, null, null, null, null, detail from changed where is_shown
      union all select since, 'outage', null, summary, null, null, null, null, null, null, null from outages
      union all select recovered_at, 'outage_over', null, null, null, null, null, null, null, null, null
        from outages where recovered_at is not null
      union all select since, 'came_to_node', null, null, null, null, null, null, node_id, null, null from tenures
      union all select at, 'slot', null, replace(kind, '_', ' ') || ': ' || detail, null, null, null, null,
        node_id, slot, null from slot_events
    )
    select * from events order by at desc limit ${limit}`.execute(db);
  return rows;
}
