// Delivery probes from beginning to end. The row exists before anything is sent, and a probe ends once.
import { sql } from 'kysely';
import { isTolerablySame, probeDigestOf } from '../../domain/probe-text.ts';
import type { Database } from '../database/database.ts';
import { anyOf, deleteChosen, inBatches } from '../database/lists.ts';
import type { ProbeEnd, ProbeKind } from '../database/operation-tables.ts';
import { SERVICE_CENTRE_KEEPS_MS } from '../fleet/holdings.ts';
import type { ProbeSim } from './probe-pairs.ts';

export interface Probe {
  id: string;
  kind: ProbeKind;
  /** False if an operator requested the probe. */
  isScheduled: boolean;
  /** It proves the number of a SIM that is not admitted yet. */
  isAdmission: boolean;
  /** Its recipient is a sold number. */
  isToSubscriber: boolean;
  /** Only its digest is stored. */
  token: string;
  sender: ProbeSim;
  recipient: ProbeSim;
  startedAt: Date;
  /** The probe has failed if it has no result by then. */
  deadlineAt: Date;
}

export type ProbeOutcome =
  | { result: 'delivered'; latencyMs: number }
  | { result: 'failed'; failedEnd: ProbeEnd; why: string }
  /** No evidence about either end. */
  | { result: 'abandoned'; why: string };

/** Probes of an instance that died: others wait longer than that instance would have. */
const OVERDUE_MS = 60_000;

export async function insertProbe(db: Database, probe: Probe): Promise<void> {
  const { sender, recipient } = probe;
  await db
    .insertInto('probes')
    .values({
      id: probe.id,
      kind: probe.kind,
      is_scheduled: probe.isScheduled,
      token_digest: probeDigestOf(probe.token),
      is_admission: probe.isAdmission,
      to_subscriber: probe.isToSubscriber,
      from_number: sender.number,
      from_iccid: sender.iccid,
      from_node: sender.node,
      from_slot: sender.slot,
      from_carrier: sender.carrier,
      to_number: recipient.number,
      to_iccid: recipient.iccid,
      to_node: recipient.node,
      to_slot: recipient.slot,
      to_carrier: recipient.carrier,
      started_at: probe.startedAt,
      deadline_at: probe.deadlineAt,
    })
    .execute();
}

/** A service center may deliver a probe so late. A later text with its token is a message. */
const RECOGNIZED_MS = SERVICE_CENTRE_KEEPS_MS;

/**
 * Whether a received text is that of a probe, and its id. The probe is then delivered, unless it has ended already. Each probe is recognized
 * once, at the SIM and from the sender that it was meant for: another copy of its text is a message. The same fact may come again. Call it
 * for texts in the format of a probe.
 */
export async function recordArrival(
  trx: Database,
  text: { token: string; iccid: string; from: string; factKey: string },
  now: Date,
): Promise<string | undefined> {
  const probe = await trx
    .selectFrom('probes')
    .select(['id', 'from_number', 'arrived_by'])
    .where('token_digest', '=', probeDigestOf(text.token))
    .where('kind', '=', 'sms')
    .where('to_iccid', '=', text.iccid)
    .where('started_at', '>', new Date(now.getTime() - RECOGNIZED_MS))
    .forUpdate()
    .executeTakeFirst();
  if (probe === undefined || !isTolerablySame(text.from, probe.from_number)) return undefined;
  if (probe.arrived_by !== null) return probe.arrived_by === text.factKey ? probe.id : undefined;
  const isFirstEnd = sql<boolean>`result is null`;
  await trx
    .updateTable('probes')
    .set({
      arrived_by: text.factKey,
      arrived_at: now,
      result: sql<'delivered'>`case when ${isFirstEnd} then 'delivered' else result end`,
      ended_at: sql<Date>`case when ${isFirstEnd} then ${now}::timestamptz else ended_at end`,
      latency_ms: sql<number>`case when ${isFirstEnd}
        then greatest(0, extract(epoch from ${now}::timestamptz - started_at) * 1000)::int else latency_ms end`,
    })
    .where('id', '=', probe.id)
    .execute();
  // Even a late one shows that texts arrive.
  await trx.deleteFrom('unreached_sims').where('iccid', '=', text.iccid).execute();
  return probe.id;
}

/** Records the end of a probe, and returns its end: an earlier one if there was one. */
export async function endProbe(
  db: Database,
  id: string,
  outcome: ProbeOutcome,
  now: Date,
): Promise<ProbeOutcome> {
  const { result } = outcome;
  const change = {
    result,
    ended_at: now,
    latency_ms: result === 'delivered' ? Math.round(outcome.latencyMs) : null,
    failed_end: result === 'failed' ? outcome.failedEnd : null,
    why: result === 'delivered' ? null : outcome.why.slice(0, 500),
  };
  const ended = await db
    .updateTable('probes')
    .set(change)
    .where('id', '=', id)
    .where('result', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (ended !== undefined) return outcome;
  const row = await db
    .selectFrom('probes')
    .select(['result', 'latency_ms', 'failed_end', 'why'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row?.result === 'delivered') return { result: 'delivered', latencyMs: row.latency_ms ?? 0 };
  if (row?.result === 'failed')
    return { result: 'failed', failedEnd: row.failed_end ?? 'either', why: row.why ?? '' };
  return { result: 'abandoned', why: row?.why ?? 'its record is gone' };
}

/** Ends probes that a dead process left. */
export async function abandonOverdue(db: Database, now: Date): Promise<void> {
  await db
    .updateTable('probes')
    .set({ result: 'abandoned', ended_at: now, why: 'its process ended' })
    .where('result', 'is', null)
    .where('deadline_at', '<', new Date(now.getTime() - OVERDUE_MS))
    .execute();
}

export async function deleteOldProbes(db: Database, before: Date): Promise<void> {
  await inBatches((limit) =>
    deleteChosen(
      db,
      { table: 'probes', key: 'id' },
      sql`select id from probes where started_at < ${before} order by started_at limit ${limit}`,
    ),
  );
}

/** When one of these SIMs last sent a scheduled probe. */
export async function lastScheduled(
  db: Database,
  kind: ProbeKind,
  iccids: readonly string[],
): Promise<Date | undefined> {
  const row = await db
    .selectFrom('probes')
    .select(({ fn }) => fn.max('started_at').as('at'))
    .where('kind', '=', kind)
    .where('is_scheduled', '=', true)
    .where('to_subscriber', '=', false)
    .where('from_iccid', '=', anyOf(iccids))
    .executeTakeFirst();
  return row?.at ?? undefined;
}

/** Takes, or keeps, the turn to probe until then. False while another instance has it. */
export async function takeTurn(db: Database, holder: string, until: Date, now: Date): Promise<boolean> {
  const row = await db
    .updateTable('probe_turn')
    .set({ held_by: holder, held_until: until })
    .where((eb) =>
      eb.or([eb('held_by', 'is', null), eb('held_by', '=', holder), eb('held_until', '<=', now)]),
    )
    .returning('held_by')
    .executeTakeFirst();
  return row !== undefined;
}

export async function leaveTurn(db: Database, holder: string): Promise<void> {
  await db
    .updateTable('probe_turn')
    .set({ held_by: null, held_until: null })
    .where('held_by', '=', holder)
    .execute();
}
