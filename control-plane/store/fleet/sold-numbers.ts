// Numbers that customers have paid for, and whether each has service.
import { type RawBuilder, sql } from 'kysely';
import type { ServiceState } from '#shared/operator/slot-health.ts';
import { MOVED_SIMS_MS } from '../../domain/sim-claim.ts';
import type { Database } from '../database/database.ts';
import { allOf } from '../database/sorted-page.ts';
import { HAS_NO_JOURNAL, REPORTED_SLOTS } from './slots.ts';

export interface SoldNumber {
  subscriptionId: string;
  number: string;
  /** Paid until then. */
  expiresAt: Date;
  /** Where its SIM is, or was last; null where no node holds it. */
  node: string | null;
  slot: string | null;
  /** The network of its SIM, or the last one; null where no node reports the SIM. */
  carrier: string | null;
  state: ServiceState;
  /** Why it has no service, as the node reports it. */
  reason: string | null;
  /** Since when it has no service; null if it has, or has only just lost it. */
  downSince: Date | null;
}

interface ServiceRow {
  subscription_id: string;
  node: string | null;
  slot: string | null;
  carrier: string | null;
  iccid: string | null;
  imei: string | null;
  /** False if `node` and `slot` are where the SIM was last. */
  is_present: boolean;
  reason: string | null;
  state: ServiceState;
}

/**
 * For rows of `subscriptions`: where the SIM is and the state of its service. Columns: `subscription_id`, `node`, `slot`, `carrier`, `iccid`, `imei`, `is_present`, `state`, `reason`. A SIM
 * that no node reports counts for the slot that it was in.
 */
export const SERVICE_ROWS = (now: Date): RawBuilder<ServiceRow> => sql<ServiceRow>`(
  select subscriptions.id as subscription_id, last.node_id as node, coalesce(sims.slot, last.slot) as slot,
    sims.operator as carrier, numbers.iccid, sims.device_id as imei, sims.iccid is not null as is_present,
    case when is_linked then coalesce(reported.trouble, case when unreached.iccid is not null then 'probes_lost' end) end as reason,
    case when sims.iccid is not null and is_linked is not true then 'node_away'
      when sims.state = 'registered' and has_no_journal then 'journal_unavailable'
      when sims.iccid is not null and sims.state = 'registered' and sims.bound_to is distinct from subscriptions.id
        then 'unbound'
      when sims.state = 'registered' and unreached.iccid is not null then 'unreached'
      when sims.iccid is not null then sims.state
      when node.is_revoked then 'node_revoked'
      when last.until is null and not is_linked then 'node_away'
      when reported.state is null or reported.state = 'registered' then 'sim_missing'
      else reported.state end as state
  from subscriptions
  left join numbers on numbers.number = subscriptions.number and numbers.retired_at is null
  left join lateral (
    select node_id, slot, until from sim_tenures where sim_tenures.iccid = numbers.iccid
    order by until is null desc, since desc limit 1
  ) as last on true
  left join lateral (
    select revoked_at is null and coalesce(link_alive_until > ${now}::timestamptz, false) as is_linked,
      revoked_at is not null as is_revoked, ${HAS_NO_JOURNAL} as has_no_journal
    from nodes where id = last.node_id
  ) as node on true
  left join sims on sims.iccid = numbers.iccid
  left join unreached_sims as unreached on unreached.iccid = sims.iccid and sims.state = 'registered'
    and (unreached.node_id, unreached.slot) = (sims.node_id, sims.slot)
  left join (${REPORTED_SLOTS}) as reported on reported.node = last.node_id and reported.slot = coalesce(sims.slot, last.slot)
    -- Another card in the slot says nothing of this one.
    and (reported.reported_iccid is null or reported.reported_iccid = numbers.iccid))`;

/** A sold number whose SIM moved to a node that had never held it. */
export interface MovedNumber {
  subscriptionId: string;
  from: string;
  node: string;
  slot: string;
}

/** Sold numbers whose SIMs moved within `MOVED_SIMS_MS`, the last one first. */
export async function findMovedNumbers(db: Database, now: Date, limit: number): Promise<MovedNumber[]> {
  const { rows } = await sql<MovedNumber>`
    select subscriptions.id as "subscriptionId", moved_from as "from", node_id as node, slot
    from sim_tenures
    join numbers on numbers.iccid = sim_tenures.iccid and numbers.retired_at is null
    join subscriptions on subscriptions.number = numbers.number and subscriptions.expires_at > ${now}::timestamptz
    where until is null and moved_from is not null and since > ${new Date(now.getTime() - MOVED_SIMS_MS)}::timestamptz
    order by since desc limit ${limit}`.execute(db);
  return rows;
}

/** Named before they are cut off. */
const NUMBERS_MAX = 20;

/** Those without service, the longest first. */
export async function findDownNumbers(db: Database, now: Date, limit: number): Promise<SoldNumber[]> {
  const { rows } = await sql<SoldNumber>`
    select subscriptions.id as "subscriptionId", subscriptions.number, subscriptions.expires_at as "expiresAt",
      node, slot, carrier, service.state, service.reason, alerts.since as "downSince"
    from subscriptions join ${SERVICE_ROWS(now)} as service on subscription_id = subscriptions.id
    left join alerts on alerts.kind = 'number_down' and alerts.subject = subscriptions.id and alerts.recovered_at is null
    where subscriptions.expires_at > ${now}::timestamptz and service.state <> 'registered'
    order by alerts.since nulls last, subscriptions.id limit ${limit}`.execute(db);
  return rows;
}

/** The state of the service of a sold number; undefined for an unknown subscription. */
export async function serviceStateOf(
  db: Database,
  subscriptionId: string,
  now: Date,
): Promise<ServiceState | undefined> {
  const { rows } = await sql<{ state: ServiceState }>`
    select state from ${SERVICE_ROWS(now)} as service where subscription_id = ${subscriptionId}`.execute(db);
  return rows[0]?.state;
}

/** Chooses customers: those of a node, of one slot of it, of a card, or of a number. */
type CustomersOf = { node: string; slot?: string | undefined } | { iccid: string } | { number: string };

/** Customers whose number is served there, or was last: how many, and the first numbers. */
export async function findCustomers(
  db: Database,
  of: CustomersOf,
  now: Date,
): Promise<{ count: number; numbers: string[] }> {
  const { node, slot, iccid, number } = of as Partial<Record<'node' | 'slot' | 'iccid' | 'number', string>>;
  const { rows } = await sql<{ number: string }>`
    select subscriptions.number from subscriptions
    join ${SERVICE_ROWS(now)} as service on subscription_id = subscriptions.id
    where subscriptions.expires_at > ${now}::timestamptz and ${allOf([
      node === undefined ? undefined : sql<boolean>`node = ${node}`,
      slot === undefined ? undefined : sql<boolean>`slot = ${slot}`,
      iccid === undefined ? undefined : sql<boolean>`iccid = ${iccid}`,
      number === undefined ? undefined : sql<boolean>`subscriptions.number = ${number}`,
    ])} order by subscriptions.number`.execute(db);
  return { count: rows.length, numbers: rows.slice(0, NUMBERS_MAX).map(({ number }) => number) };
}

/** By node without a link: the customers whose SIM it has. */
export async function countAway(db: Database, now: Date): Promise<Map<string, number>> {
  const { rows } = await sql<{ node: string; count: number }>`
    select node, count(*)::int as count
    from subscriptions join ${SERVICE_ROWS(now)} as service on subscription_id = subscriptions.id
    where subscriptions.expires_at > ${now}::timestamptz and service.state = 'node_away' and node is not null
    group by node`.execute(db);
  return new Map(rows.map(({ node, count }) => [node, count]));
}

/** A statement that counts paid numbers by the state of their service. */
export const soldNumberStates = (now: Date) => sql<{ state: ServiceState; count: number }>`
  select service.state, count(*)::int as count
  from subscriptions join ${SERVICE_ROWS(now)} as service on subscription_id = subscriptions.id
  where subscriptions.expires_at > ${now}::timestamptz group by 1`;
