// Which node holds a SIM and which ones held it: read and written when claims are decided.
import { sql } from 'kysely';
import {
  CLAIM_KEPT_MS,
  type ClaimDecision,
  CONTESTED_MS,
  MOVED_SIMS_MAX,
  MOVED_SIMS_MS,
  type Sighting,
  type Tenure,
} from '../../domain/sim-claim.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { addRefusals } from './node-refusals.ts';

/** For rows of `sim_tenures`: the card has an admitted number, or had one of which texts may still come. */
const IS_KNOWN = sql`(
  exists (select from numbers where numbers.iccid = sim_tenures.iccid and unadmitted_since is null)
  or exists (select from former_cards where former_cards.iccid = sim_tenures.iccid))`;

/** For rows of `sim_tenures`: the number was imported, and only the holder itself says that it has the card. */
const IS_UNPROVEN = sql`exists (select from numbers where numbers.iccid = sim_tenures.iccid and retired_at is null
  and unproven = 'holder')`;

/** Former holders that are kept per SIM: cards seldom move. */
const FORMER_MAX = 8;

/** After this, facts of a former holder are of no use. */
const FORMER_KEPT_MS = 30 * 24 * 60 * 60_000;

/** Slack for facts about a SIM that has just left: clocks differ, and the node waits for all parts of a text. */
export const TENURE_SLACK_MS = 2 * 60_000;

/** The tenures of these SIMs and all tenures of the node, locked in the order of SIMs until the transaction ends. */
export async function lockTenures(
  trx: DatabaseTransaction,
  nodeId: string,
  iccids: readonly string[],
  {
    now,
    servedSince,
    isLinkedHere,
  }: { now: Date; servedSince: Date; isLinkedHere: (nodeId: string) => boolean },
): Promise<Tenure[]> {
  const { rows } = await sql<
    Omit<Tenure, 'isLinked' | 'awaySince'> & { aliveUntil: Date | null; sighting: Sighting }
  >`
    select iccid, node_id as "nodeId", slot, since, sighting, sighting_since as "sightingSince",
      taken_from as "takenFrom", nodes.link_alive_until as "aliveUntil",
      ${IS_KNOWN} as "isKnown",
      ${IS_UNPROVEN} as "isUnproven"
    from sim_tenures join nodes on nodes.id = node_id
    where until is null and (iccid = any(${iccids}::text[]) or node_id = ${nodeId})
    order by iccid for update of sim_tenures`.execute(trx);
  return rows.map(({ aliveUntil, ...tenure }) => ({
    ...tenure,
    isLinked: isLinkedHere(tenure.nodeId) || (aliveUntil !== null && aliveUntil > now),
    // No node could reconnect to this instance before it started.
    awaySince: aliveUntil !== null && aliveUntil > servedSince ? aliveUntil : servedSince,
  }));
}

/** Since when claims of the node have been contested, by SIM. */
export async function readContested(trx: DatabaseTransaction, nodeId: string): Promise<Map<string, Date>> {
  const rows = await trx
    .selectFrom('sim_claims')
    .select(['iccid', 'contested_since'])
    .where('node_id', '=', nodeId)
    .where('contested_since', 'is not', null)
    .execute();
  return new Map(
    rows.flatMap(({ iccid, contested_since: at }) => (at === null ? [] : [[iccid, at] as const])),
  );
}

/**
 * Writes the changes of a report. `locked`: the tenures on which they were decided. If another node began a tenure since, of a SIM that had
 * none, that tenure stays. Returns those SIMs.
 */
export async function writeTenures(
  trx: DatabaseTransaction,
  nodeId: string,
  {
    decision: { held, taken, released, unseen },
    locked,
  }: { decision: ClaimDecision; locked: readonly Tenure[] },
  now: Date,
): Promise<string[]> {
  const isLocked = new Set(locked.map(({ iccid }) => iccid));
  const replaced = taken.flatMap(({ iccid }) => (isLocked.has(iccid) ? [iccid] : []));
  await endTenures(trx, [...released, ...replaced], now);
  const slotOf = new Map(held.map((slot) => [slot.iccid, slot]));
  const begun =
    taken.length === 0
      ? { rows: [] }
      : await sql<{ iccid: string }>`
    insert into sim_tenures (iccid, node_id, slot, since, sighting, sighting_since, taken_from, moved_from)
    select iccid, ${nodeId}, slot, ${now}::timestamptz, 'present', ${now}::timestamptz, taken_from,
      coalesce(moved_from, ${earlierMove(nodeId, now)})
    from unnest(${taken.map(({ iccid }) => iccid)}::text[],
      ${taken.map(({ iccid }) => slotOf.get(iccid)?.slot ?? '')}::text[],
      ${taken.map(({ from }) => from)}::text[], ${taken.map((each) => each.movedFrom)}::text[])
      as claim (iccid, slot, taken_from, moved_from)
    on conflict (iccid) where until is null do nothing returning iccid`.execute(trx);
  // A node that has reported a SIM for this long has the card, even if its modem is lost later.
  const formerHolder = sql`case when sim_tenures.sighting <> 'present'
    or sighting_since > ${new Date(now.getTime() - CONTESTED_MS)}::timestamptz then taken_from end`;
  await sql`
    update sim_tenures set slot = seen.slot, sighting = seen.sighting, taken_from = ${formerHolder},
      sighting_since = case when sim_tenures.sighting = seen.sighting then sighting_since else ${now}::timestamptz end
    from unnest(${held.map(({ iccid }) => iccid)}::text[], ${held.map(({ slot }) => slot)}::text[],
      ${held.map(({ state }) => (state === 'lost' ? 'lost' : 'present'))}::text[]) as seen (iccid, slot, sighting)
    where sim_tenures.iccid = seen.iccid and node_id = ${nodeId} and until is null
      and (sim_tenures.slot, sim_tenures.sighting) is distinct from (seen.slot, seen.sighting)`.execute(trx);
  if (unseen.length > 0)
    await sql`
    update sim_tenures set sighting = 'unseen', taken_from = ${formerHolder}, sighting_since = ${now}::timestamptz
    where node_id = ${nodeId} and until is null and sighting <> 'unseen'
      and iccid = any(${unseen}::text[])`.execute(trx);
  const isBegun = new Set(begun.rows.map(({ iccid }) => iccid));
  return taken.flatMap(({ iccid }) => (isBegun.has(iccid) ? [] : [iccid]));
}

/** Ends tenures, which the transaction has locked. Nothing is kept of unadmitted SIMs: a node can invent any number of them. */
export async function endTenures(
  trx: DatabaseTransaction,
  iccids: readonly string[],
  now: Date,
): Promise<void> {
  if (iccids.length === 0) return;
  await sql`
    update sim_tenures set until = ${now}::timestamptz
    where iccid = any(${iccids}::text[]) and until is null`.execute(trx);
  await sql`
    delete from sim_tenures where iccid = any(${iccids}::text[]) and until is not null and (
      not ${IS_KNOWN}
      or id <= (select id from sim_tenures as former where former.iccid = sim_tenures.iccid and former.until is not null
        order by id desc offset ${FORMER_MAX} limit 1))`.execute(trx);
  await sql`
    delete from number_rivals where iccid = any(${iccids}::text[])`.execute(trx);
  // A disputed number is kept: otherwise the next node to report it would be the first.
  await sql`
    delete from numbers where iccid = any(${iccids}::text[]) and unadmitted_since is not null and disputed_since is null
      and retired_at is null and out_of_service_at is null
      and not exists (select from sim_tenures where sim_tenures.iccid = numbers.iccid and until is null)
      and not exists (select from subscriptions where subscriptions.number = numbers.number)
      and not exists (select from payments where payments.reserved_number = numbers.number)`.execute(trx);
}

/** Replaces the refused claims of a node, and counts new ones. Contested claims are kept for a while. */
export async function writeClaims(
  trx: DatabaseTransaction,
  nodeId: string,
  { held, refused }: Pick<ClaimDecision, 'held' | 'refused'>,
  now: Date,
): Promise<void> {
  const known = refused.filter(({ isKnown }) => isKnown);
  const { rows } =
    known.length === 0
      ? { rows: [] }
      : await sql<{ isNew: boolean }>`
    insert into sim_claims (node_id, iccid, slot, cause, since, contested_since, seen_at)
    select ${nodeId}, iccid, slot, cause, ${now}::timestamptz,
      case when cause = 'contested' then ${now}::timestamptz end, ${now}::timestamptz
    from unnest(${known.map(({ iccid }) => iccid)}::text[], ${known.map(({ slot }) => slot)}::text[],
      ${known.map(({ cause }) => cause)}::text[]) as claim (iccid, slot, cause)
    on conflict (node_id, iccid) do update set slot = excluded.slot, cause = excluded.cause, seen_at = excluded.seen_at,
      contested_since = coalesce(sim_claims.contested_since, excluded.contested_since)
    returning (xmax = 0) as "isNew"`.execute(trx);
  const ended = await trx
    .deleteFrom('sim_claims')
    .where('node_id', '=', nodeId)
    .where('iccid', 'in', sql<string>`(select unnest(${held.map(({ iccid }) => iccid)}::text[]))`)
    .returning('iccid')
    .execute();
  await sql`
    delete from sim_claims where node_id = ${nodeId} and iccid <> all(${known.map(({ iccid }) => iccid)}::text[])
      and (contested_since is null
        or seen_at < ${new Date(now.getTime() - CLAIM_KEPT_MS)}::timestamptz)`.execute(trx);
  const begun = rows.filter(({ isNew }) => isNew).length + refused.length - known.length;
  await addRefusals(trx, { nodeId, reason: 'claims', count: begun - ended.length }, now);
}

/** How many SIMs the node holds. */
export async function countTenures(db: Database, nodeId: string): Promise<number> {
  const row = await db
    .selectFrom('sim_tenures')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('node_id', '=', nodeId)
    .where('until', 'is', null)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Which of these SIMs the node held before. */
export async function readHeldBefore(
  trx: DatabaseTransaction,
  nodeId: string,
  iccids: readonly string[],
): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('sim_tenures')
    .select('iccid')
    .distinct()
    .where('node_id', '=', nodeId)
    .where('until', 'is not', null)
    .where('iccid', 'in', sql<string>`(select unnest(${iccids}::text[]))`)
    .execute();
  return new Set(rows.map(({ iccid }) => iccid));
}

/** The last holder of each of these SIMs that is known and has no holder now. Holders without proof do not count. */
export async function readLastHolders(
  trx: DatabaseTransaction,
  iccids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ iccid: string; node: string }>`
    select distinct on (iccid) iccid, node_id as node from sim_tenures
    where iccid = any(${iccids}::text[]) and ${IS_KNOWN} and not ${IS_UNPROVEN}
      and not exists (select from sim_tenures as open where open.iccid = sim_tenures.iccid and open.until is null)
    order by iccid, id desc`.execute(trx);
  return new Map(rows.map(({ iccid, node }) => [iccid, node]));
}

/** How many more known SIMs the node may get that it never held. No bound holds for a node that an operator approved with too many. */
export async function countMovesLeft(trx: DatabaseTransaction, nodeId: string, now: Date): Promise<number> {
  const since = new Date(now.getTime() - MOVED_SIMS_MS);
  const { rows } = await sql<{ moves: number; isApproved: boolean }>`
    select new_sims_approved_at is not null as "isApproved",
      (select count(distinct iccid)::int from sim_tenures
        where node_id = ${nodeId} and moved_from is not null and sim_tenures.since > ${since}::timestamptz) as moves
    from nodes where id = ${nodeId}`.execute(trx);
  return rows[0]?.isApproved === true
    ? Number.POSITIVE_INFINITY
    : Math.max(0, MOVED_SIMS_MAX - (rows[0]?.moves ?? 0));
}

/** For rows of `claim`: from where the SIM moved to the node before, if it gave it up and claims it again within the time in which moves count. */
const earlierMove = (nodeId: string, now: Date) => sql`(
  select former.moved_from from sim_tenures as former
  where former.iccid = claim.iccid and former.node_id = ${nodeId} and former.moved_from is not null
    and former.since > ${new Date(now.getTime() - MOVED_SIMS_MS)}::timestamptz
  order by former.id desc limit 1)`;

/** Whether a node holds a SIM now, or held it at the time in question. */
type HeldAs = 'present holder' | 'former holder' | 'no holder';

/** The relation of the node to each of these SIMs, now or at its time; in their order. */
export async function findHeldAs(
  db: Database,
  nodeId: string,
  sims: ReadonlyArray<{ iccid: string; at: Date }>,
): Promise<HeldAs[]> {
  const { rows } = await sql<{ heldAs: HeldAs }>`
    select (
      select case bool_or(until is null) when true then 'present holder' when false then 'former holder'
        else 'no holder' end
      from sim_tenures where sim_tenures.iccid = sim.iccid and node_id = ${nodeId}
        and (until is null or sim.at between since - ${TENURE_SLACK_MS} * interval '1 ms'
          and until + ${TENURE_SLACK_MS} * interval '1 ms')
    ) as "heldAs"
    from unnest(${sims.map(({ iccid }) => iccid)}::text[], ${sims.map(({ at }) => at)}::timestamptz[])
      with ordinality as sim (iccid, at, position) order by position`.execute(db);
  return rows.map(({ heldAs }) => heldAs);
}

export async function deleteOldTenures(db: Database, now: Date): Promise<void> {
  const before = (ms: number): Date => new Date(now.getTime() - ms);
  await db.deleteFrom('sim_tenures').where('until', '<', before(FORMER_KEPT_MS)).execute();
  await db.deleteFrom('sim_claims').where('seen_at', '<', before(CLAIM_KEPT_MS)).execute();
}
