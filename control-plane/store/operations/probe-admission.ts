// Probes that prove the number of a SIM that no operator imported, and the numbers they prove.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { ProbeSim } from './probe-pairs.ts';

/** A text that may prove a number. */
export interface AdmissionText {
  sender: ProbeSim;
  recipient: ProbeSim;
  /** The node that reports the new SIM. */
  node: string;
  /** Texts of the last 24 hours for SIMs of that node that are not admitted. */
  unproven: number;
}

/** The SIMs that may have a number: the one it is listed with, and those that dispute it. */
const CANDIDATES = sql`
  select number, iccid from numbers union all select number, iccid from number_rivals`;

const DAY_MS = 24 * 60 * 60_000;

/**
 * Texts that are due between unadmitted SIMs and admitted ones of other nodes, so that a number does not depend on one node's word. The
 * first text is from the new SIM. Once that has arrived, one goes to it, for its number may be a stranger's. Each is retried only after
 * `retryBefore`. The SIMs with the oldest attempts come first, then those that wait longest.
 */
export async function findAdmissionTexts(
  db: Database,
  { now, retryBefore }: { now: Date; retryBefore: Date },
): Promise<AdmissionText[]> {
  const { rows } = await sql<{ fresh: ProbeSim; known: ProbeSim; isToFresh: boolean; unproven: number }>`
    with ends as materialized (
      select started_at, result, way, node, number, iccid from probes
      cross join lateral (values ('from', from_node, from_number, from_iccid), ('to', to_node, to_number, to_iccid))
        as each_end (way, node, number, iccid)
      where is_admission
    ), tries as (
      select iccid, way, max(started_at) as at from ends group by iccid, way
    ), unproven as (
      select node, count(*)::int as texts from ends
      where started_at > ${new Date(now.getTime() - DAY_MS)}::timestamptz and not exists (
        select from numbers where numbers.number = ends.number and numbers.iccid = ends.iccid
          and unadmitted_since is null)
      group by node
    ), places as (
      select numbers.unadmitted_since, sim_tenures.since, jsonb_build_object('number', numbers.number,
        'iccid', sims.iccid, 'node', sims.node_id, 'slot', sims.slot, 'carrier', sims.operator) as sim,
        numbers.number, sims.iccid, sims.node_id as node
      from numbers
      join (${CANDIDATES}) as candidates on candidates.number = numbers.number
      join sims on sims.iccid = candidates.iccid and sims.state = 'registered'
      join sim_tenures on sim_tenures.iccid = sims.iccid and until is null
      join nodes on nodes.id = sims.node_id and nodes.revoked_at is null
        and nodes.link_alive_until > ${now}::timestamptz and nodes.claims_suspended_at is null
      where numbers.retired_at is null and numbers.out_of_service_at is null
        and not exists (select from subscriptions where subscriptions.number = numbers.number)
        and not exists (select from payments where payments.reserved_number = numbers.number)
    ), fresh as (
      select places.*, case when exists (
        select from ends where way = 'from' and result = 'delivered' and ends.number = places.number
          and ends.iccid = places.iccid and ends.node = places.node and started_at >= places.since
      ) then 'to' else 'from' end as way
      from places where unadmitted_since is not null
    )
    select fresh.sim as fresh, known.sim as known, fresh.way = 'to' as "isToFresh",
      coalesce(unproven.texts, 0) as unproven
    from fresh
    join lateral (
      select sim from places as other
      where other.unadmitted_since is null and other.node <> fresh.node order by random() limit 1
    ) as known on true
    left join tries on tries.iccid = fresh.iccid and tries.way = fresh.way
    left join unproven on unproven.node = fresh.node
    where tries.at is null or tries.at <= ${retryBefore}::timestamptz
    order by fresh.way = 'to' desc, tries.at nulls first, fresh.unadmitted_since, fresh.iccid`.execute(db);
  return rows.map(({ fresh, known, isToFresh, unproven }) => ({
    ...(isToFresh ? { sender: known, recipient: fresh } : { sender: fresh, recipient: known }),
    node: fresh.node,
    unproven,
  }));
}

/** Admits the numbers that texts in both directions have proved since their SIM came to its present node. Returns them. */
export async function admitProven(db: Database): Promise<string[]> {
  const proof = (way: 'from' | 'to') => sql`exists (
    select from probes where is_admission and result = 'delivered'
      and ${sql.ref(`probes.${way}_number`)} = numbers.number
      and ${sql.ref(`probes.${way}_iccid`)} = candidates.iccid
      and ${sql.ref(`probes.${way}_node`)} = sim_tenures.node_id
      and probes.started_at >= sim_tenures.since)`;
  const { rows } = await sql<{ number: string }>`
    update numbers set iccid = candidates.iccid, unadmitted_since = null, unproven = null, disputed_since = null
    from sim_tenures, (${CANDIDATES}) as candidates
    where candidates.number = numbers.number and sim_tenures.iccid = candidates.iccid and sim_tenures.until is null
      and numbers.unadmitted_since is not null and numbers.retired_at is null
      and ${proof('from')} and ${proof('to')}
    returning numbers.number`.execute(db);
  const admitted = rows.map(({ number }) => number);
  await sql`delete from number_rivals where number = any(${admitted}::text[])`.execute(db);
  return admitted;
}
