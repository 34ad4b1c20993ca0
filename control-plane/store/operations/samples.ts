// Samples of the fleet for plots: the first instance takes one each minute; they are kept for eight days.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { FleetNode } from '../fleet/fleet-nodes.ts';

const MINUTE_MS = 60_000;

/** Messages end later than they begin: these minutes are counted again. */
const RECOUNTED_MINUTES = 15;

const KEPT_MS = 8 * 24 * 60 * MINUTE_MS;

export interface Sample {
  /** When its span begins. */
  at: Date;
  /** Minutes with a sample. */
  minutes: number;
  /** Means over the span; null if not measured. */
  slotsUp: number | null;
  slots: number | null;
  available: number | null;
  held: number | null;
  /** Calls of subscribers. */
  callsUp: number | null;
  /** Sums over the span. */
  smsSent: number;
  smsDelivered: number;
  smsFailed: number;
  smsReceived: number;
  callsAnswered: number;
  callsFailed: number;
  audioFrames: number;
  audioGaps: number;
}

/** Takes the sample of this minute, unless another instance has. */
export async function takeSample(db: Database, fleet: readonly FleetNode[], now: Date): Promise<void> {
  const at = new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS);
  const slots = fleet.flatMap((node) => node.slots);
  const taken = await db
    .insertInto('fleet_samples')
    .values({
      at,
      slots: slots.length,
      slots_up: slots.filter(({ state }) => state === 'registered').length,
      available: slots.filter(({ state, use }) => state === 'registered' && use === 'on_sale').length,
      held: slots.filter(({ use }) => use === 'held').length,
      calls_up: slots.filter(({ call }) => call?.isCustomers).length,
      ...COUNTERS_AT_ZERO,
    })
    .onConflict((conflict) =>
      conflict
        .column('at')
        .doUpdateSet((eb) => ({
          slots: eb.ref('excluded.slots'),
          slots_up: eb.ref('excluded.slots_up'),
          available: eb.ref('excluded.available'),
          held: eb.ref('excluded.held'),
          calls_up: eb.ref('excluded.calls_up'),
        }))
        .where('fleet_samples.slots', 'is', null),
    )
    .returning('at')
    .executeTakeFirst();
  if (taken === undefined) return;
  await takeSignals(db, fleet, at);
  await countMinutes(db, at);
}

const COUNTERS_AT_ZERO = {
  sms_sent: 0,
  sms_delivered: 0,
  sms_failed: 0,
  sms_received: 0,
  calls_answered: 0,
  calls_failed: 0,
  audio_frames: 0,
  audio_gaps: 0,
};

async function takeSignals(db: Database, fleet: readonly FleetNode[], at: Date): Promise<void> {
  const rows = fleet.flatMap(({ name, slots, state }) => {
    if (state !== 'linked') return [];
    const signals = slots.flatMap(({ slot, signalDbm }) => (signalDbm === null ? [] : [[slot, signalDbm]]));
    return signals.length === 0
      ? []
      : [{ node_id: name, at, signals: JSON.stringify(Object.fromEntries(signals)) }];
  });
  if (rows.length === 0) return;
  await db
    .insertInto('node_samples')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Counts the events of customers in the minutes before `at`, also of minutes in which no instance ran. */
async function countMinutes(db: Database, at: Date): Promise<void> {
  const first = new Date(at.getTime() - RECOUNTED_MINUTES * MINUTE_MS);
  await sql`
    with minutes as (
      select generate_series(${first}::timestamptz, ${at}::timestamptz - interval '1 minute', interval '1 minute') as at
    ), sms as (
      select date_trunc('minute', created_at) as at,
        count(*) filter (where direction = 'sent') as sent,
        count(*) filter (where status = 'delivered') as delivered,
        count(*) filter (where status in ('failed', 'expired', 'unknown')) as failed,
        count(*) filter (where direction = 'received') as received
      from messages where created_at >= ${first} and created_at < ${at} group by 1
    ), ended as (
      select date_trunc('minute', ended_at) as at, count(answered_at) as answered,
        count(*) filter (where reason in ('network_failure', 'modem_lost', 'contact_lost', 'abandoned')) as failed,
        sum((audio ->> 'captured_frames')::bigint + (audio ->> 'played_frames')::bigint) as frames,
        sum((audio ->> 'late_frames')::bigint + (audio ->> 'dropped_frames')::bigint
          + (audio ->> 'lost_frames')::bigint + (audio ->> 'capture_gaps')::bigint) as gaps
      from calls where ended_at >= ${first} and ended_at < ${at} and subscription_id is not null group by 1
    )
    insert into fleet_samples (at, sms_sent, sms_delivered, sms_failed, sms_received,
      calls_answered, calls_failed, audio_frames, audio_gaps)
    select minutes.at, coalesce(sent, 0), coalesce(delivered, 0), coalesce(sms.failed, 0), coalesce(received, 0),
      coalesce(answered, 0), coalesce(ended.failed, 0), coalesce(frames, 0), coalesce(gaps, 0)
    from minutes left join sms on sms.at = minutes.at left join ended on ended.at = minutes.at
    on conflict (at) do update set
      sms_sent = excluded.sms_sent, sms_delivered = excluded.sms_delivered, sms_failed = excluded.sms_failed,
      sms_received = excluded.sms_received, calls_answered = excluded.calls_answered,
      calls_failed = excluded.calls_failed, audio_frames = excluded.audio_frames,
      audio_gaps = excluded.audio_gaps`.execute(db);
}

export interface Span {
  since: Date;
  until: Date;
  /** Length of one sample. */
  stepMs: number;
}

/** The samples of a span, one per step; steps without any are missing. Oldest first. */
export async function readSamples(db: Database, { since, until, stepMs }: Span): Promise<Sample[]> {
  const { rows } = await sql<Sample>`
    select ${stepOf(stepMs)} as at, count(*)::int as minutes, avg(slots_up)::float as "slotsUp", avg(slots)::float as slots,
      avg(available)::float as available, avg(held)::float as held, avg(calls_up)::float as "callsUp",
      sum(sms_sent)::int as "smsSent", sum(sms_delivered)::int as "smsDelivered", sum(sms_failed)::int as "smsFailed",
      sum(sms_received)::int as "smsReceived", sum(calls_answered)::int as "callsAnswered",
      sum(calls_failed)::int as "callsFailed", sum(audio_frames)::float as "audioFrames",
      sum(audio_gaps)::float as "audioGaps"
    from fleet_samples where at >= ${since} and at < ${until} group by 1 order by 1`.execute(db);
  return rows;
}

/** Mean signal of a slot in dBm, one value per step. Oldest first. */
export async function readSignal(
  db: Database,
  { node, slot }: { node: string; slot: string },
  { since, until, stepMs }: Span,
): Promise<Array<{ at: Date; dbm: number | null }>> {
  const { rows } = await sql<{ at: Date; dbm: number | null }>`
    select ${stepOf(stepMs)} as at, avg((signals ->> ${slot}::text)::int)::float as dbm
    from node_samples where node_id = ${node} and at >= ${since} and at < ${until}
    group by 1 order by 1`.execute(db);
  return rows;
}

const stepOf = (stepMs: number) =>
  sql`to_timestamp(floor(extract(epoch from at) / ${stepMs / 1000}::int) * ${stepMs / 1000}::int)`;

export async function deleteOldSamples(db: Database, now: Date): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await db.deleteFrom('fleet_samples').where('at', '<', before).execute();
  await db.deleteFrom('node_samples').where('at', '<', before).execute();
}
