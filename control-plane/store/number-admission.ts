// SIMs that nobody knew before: their numbers are sold once an operator, or a probe, has admitted them.
import { sql } from 'kysely';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { isSellable } from '../domain/sellable-number.ts';
import type { Database } from './database.ts';
import type { ProbeSim } from './probe-pairs.ts';

/** Lets a number be sold. Throws `OperatorRefusal` for one that is admitted, unknown or no US mobile number. */
export async function admitNumber(db: Database, number: string): Promise<void> {
  const row = await db
    .selectFrom('numbers')
    .select('unadmitted_since')
    .where('number', '=', number)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw new OperatorRefusal(`there is no number ${number}`);
  if (row.unadmitted_since === null) throw new OperatorRefusal(`${number} is admitted already`);
  if (!isSellable(number)) throw new OperatorRefusal(`${number} is not a US mobile number`);
  const admitted = { unadmitted_since: null, unproven: null };
  await db.updateTable('numbers').set(admitted).where('number', '=', number).execute();
}

/** Takes a number that cannot be sold off the market until an operator looks at it. */
export async function withdrawAdmission(db: Database, number: string, now: Date): Promise<void> {
  await db.updateTable('numbers').set({ unadmitted_since: now }).where('number', '=', number).execute();
}

/** Makes room for an operator's list: what nodes reported of these numbers and SIMs, and nobody admitted, gives way. */
export async function clearUnadmitted(
  db: Database,
  rows: ReadonlyArray<{ number: string; iccid: string }>,
): Promise<void> {
  await sql`
    delete from numbers using unnest(${rows.map(({ number }) => number)}::text[],
      ${rows.map(({ iccid }) => iccid)}::text[]) as listed (number, iccid)
    where unadmitted_since is not null and retired_at is null
      and (numbers.number = listed.number or numbers.iccid = listed.iccid)
      and not exists (select from subscriptions where subscriptions.number = numbers.number)
      and not exists (select from payments where payments.reserved_number = numbers.number)`.execute(db);
}

/** Of one round; what is left has its turn in the next. */
const ADMISSIONS_MAX = 32;

/** A text that may prove a number. */
export interface AdmissionPair {
  sender: ProbeSim;
  recipient: ProbeSim;
}

/**
 * Texts that are due between SIMs that are not admitted and admitted ones of other nodes, which proves more than a node's
 * own word. Each way is tried again after `retryBefore` only.
 */
export async function findAdmissionPairs(
  db: Database,
  { now, retryBefore }: { now: Date; retryBefore: Date },
): Promise<AdmissionPair[]> {
  const { rows } = await sql<{ fresh: ProbeSim; known: ProbeSim; isToFresh: boolean }>`
    with places as (
      select numbers.number, numbers.iccid, sims.node_id as node, sims.slot, sims.operator as carrier,
        numbers.unadmitted_since is not null as is_fresh
      from numbers
      join sims on sims.iccid = numbers.iccid and sims.state = 'registered'
      join nodes on nodes.id = sims.node_id and nodes.revoked_at is null
        and nodes.link_alive_until > ${now}::timestamptz and nodes.claims_suspended_at is null
      where numbers.retired_at is null and numbers.out_of_service_at is null
        and not exists (select from subscriptions where subscriptions.number = numbers.number)
        and not exists (select from payments where payments.reserved_number = numbers.number)
    )
    select to_jsonb(fresh) - 'is_fresh' as fresh, known.place as known, way.is_to_fresh as "isToFresh"
    from places as fresh
    join lateral (
      select to_jsonb(other) - 'is_fresh' as place from places as other
      where not other.is_fresh and other.node <> fresh.node order by random() limit 1
    ) as known on true
    cross join (values (true), (false)) as way (is_to_fresh)
    where fresh.is_fresh and not exists (
      select from probes where is_admission and started_at > ${retryBefore}::timestamptz
        and case when way.is_to_fresh then to_iccid else from_iccid end = fresh.iccid
    ) order by fresh.number, way.is_to_fresh limit ${ADMISSIONS_MAX}`.execute(db);
  return rows.map(({ fresh, known, isToFresh }) =>
    isToFresh ? { sender: known, recipient: fresh } : { sender: fresh, recipient: known },
  );
}

/**
 * Admits the numbers that texts in both ways have proved since their SIM came to the node that holds it. Returns
 * them.
 */
export async function admitProven(db: Database): Promise<string[]> {
  const proof = (way: 'from' | 'to') => sql`exists (
    select from probes where is_admission and result = 'delivered'
      and ${sql.ref(`probes.${way}_number`)} = numbers.number
      and ${sql.ref(`probes.${way}_iccid`)} = numbers.iccid
      and ${sql.ref(`probes.${way}_node`)} = sim_tenures.node_id
      and probes.started_at >= sim_tenures.since)`;
  const { rows } = await sql<{ number: string }>`
    update numbers set unadmitted_since = null, unproven = null from sim_tenures
    where sim_tenures.iccid = numbers.iccid and sim_tenures.until is null
      and numbers.unadmitted_since is not null and numbers.retired_at is null
      and ${proof('from')} and ${proof('to')}
    returning numbers.number`.execute(db);
  return rows.map(({ number }) => number);
}
