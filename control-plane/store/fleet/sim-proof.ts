// Evidence about SIMs before a node holds them for certain: which node may hold them first, which node has proven that it has them, and how
// many unknown SIMs a node reports.
import { sql } from 'kysely';
import { newSimsMax } from '../../domain/sim-claim.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { endTenures } from './sim-tenures.ts';

/** New SIMs of a node count for this long: a rack that restarts reports the same ones again. */
const NEW_SIMS_MS = 24 * 60 * 60_000;

/** The SIMs of these that only one node may hold first: the node by SIM. */
export async function readExpected(
  trx: DatabaseTransaction,
  iccids: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ iccid: string; node: string }>`
    select iccid, first_node as node from numbers
    where iccid = any(${iccids}::text[]) and first_node is not null and retired_at is null`.execute(trx);
  return new Map(rows.map(({ iccid, node }) => [iccid, node]));
}

/**
 * Records SIMs of a node that were neither imported nor admitted by an operator or a probe. With `admitsNew`, SIMs that a report admitted
 * since then count too. Returns how many it reported in the last `NEW_SIMS_MS`; the count stops above the limit. Returns 0 for a node that
 * an operator has approved with that many.
 */
export async function countNewSims(
  trx: DatabaseTransaction,
  nodeId: string,
  { iccids, admitsNew, now }: { iccids: readonly string[]; admitsNew: boolean; now: Date },
): Promise<number> {
  const node = await trx
    .selectFrom('nodes')
    .select(['new_sims', 'new_sims_since', 'new_sims_approved_at'])
    .where('id', '=', nodeId)
    .executeTakeFirstOrThrow();
  if (node.new_sims_approved_at !== null) return 0;
  const since = node.new_sims_since;
  const isOld = since === null || now.getTime() - since.getTime() > NEW_SIMS_MS;
  const before = isOld ? [] : node.new_sims;
  const { rows } = await sql<{ iccid: string }>`
    select distinct iccid from unnest(${[...before, ...iccids]}::text[]) as shown (iccid)
    where not exists (select from numbers where numbers.iccid = shown.iccid and unadmitted_since is null
      and (not ${admitsNew} or unproven is distinct from 'number' or created_at < ${isOld ? now : since}::timestamptz))
    order by iccid limit ${newSimsMax(admitsNew) + 1}`.execute(trx);
  const shown = rows.map(({ iccid }) => iccid);
  if (isOld || shown.join() !== before.join())
    await trx
      .updateTable('nodes')
      .set({ new_sims: shown, ...(isOld ? { new_sims_since: now } : {}) })
      .where('id', '=', nodeId)
      .execute();
  return shown.length;
}

/** Records that these SIMs are at the node that an operator named for them. */
export async function proveExpected(
  trx: DatabaseTransaction,
  nodeId: string,
  iccids: readonly string[],
): Promise<void> {
  if (iccids.length === 0) return;
  await sql`
    update numbers set first_node = null, unproven = case when unproven = 'number' then unproven end
    where iccid = any(${iccids}::text[]) and first_node = ${nodeId} and retired_at is null`.execute(trx);
}

/** Records an operator's decision on which node holds the SIM. */
export async function proveHolder(trx: DatabaseTransaction, iccid: string): Promise<void> {
  await sql`
    update numbers set first_node = null, unproven = case when unproven = 'number' then unproven end
    where iccid = ${iccid} and retired_at is null`.execute(trx);
}

/** Locks the tenures of these SIMs until the transaction ends. Take this lock before any lock of numbers, as reports do. */
export async function lockOpenTenures(trx: DatabaseTransaction, iccids: readonly string[]): Promise<void> {
  await sql`
    select iccid from sim_tenures where iccid = any(${iccids}::text[]) and until is null
    order by iccid for update`.execute(trx);
}

/**
 * Expects SIMs at these nodes, unless it is proven which node holds them. A node that holds one and is not named loses it: it may have
 * guessed the ICCID. The caller has locked the tenures.
 */
export async function expectAt(
  trx: DatabaseTransaction,
  named: ReadonlyArray<{ iccid: string; node: string }>,
  now: Date,
): Promise<void> {
  if (named.length === 0) return;
  const { rows } = await sql<{ iccid: string; node: string; holder: string | null }>`
    select numbers.iccid, named.node, sim_tenures.node_id as holder
    from unnest(${named.map(({ iccid }) => iccid)}::text[], ${named.map(({ node }) => node)}::text[]) as named (iccid, node)
    join numbers on numbers.iccid = named.iccid and numbers.retired_at is null and numbers.unproven in ('holder', 'moved')
    left join sim_tenures on sim_tenures.iccid = named.iccid and until is null
    order by numbers.iccid`.execute(trx);
  const foreign = rows.filter(({ holder, node }) => holder !== null && holder !== node);
  const iccids = foreign.map(({ iccid }) => iccid);
  await endTenures(trx, iccids, now);
  await sql`delete from sims where iccid = any(${iccids}::text[])`.execute(trx);
  await sql`
    update numbers set first_node = named.node
    from unnest(${rows.map(({ iccid }) => iccid)}::text[], ${rows.map(({ node }) => node)}::text[]) as named (iccid, node)
    where numbers.iccid = named.iccid and retired_at is null`.execute(trx);
  for (const { holder, iccid, node } of rows) if (holder === node) await proveExpected(trx, node, [iccid]);
}

/** Records the present holder of a SIM as proven if texts, one each way with SIMs of other nodes, were delivered. */
export async function proveByProbes(db: Database): Promise<void> {
  const proof = (way: 'from' | 'to') => sql`exists (
    select from probes where kind = 'sms' and result = 'delivered' and from_node <> to_node
      and ${sql.ref(`probes.${way}_number`)} = numbers.number
      and ${sql.ref(`probes.${way}_iccid`)} = numbers.iccid
      and ${sql.ref(`probes.${way}_node`)} = sim_tenures.node_id
      and probes.started_at >= sim_tenures.since)`;
  await sql`
    update numbers set unproven = null from sim_tenures
    where sim_tenures.iccid = numbers.iccid and sim_tenures.until is null
      and numbers.unproven is not null and numbers.unadmitted_since is null and numbers.retired_at is null
      and ${proof('from')} and ${proof('to')}`.execute(db);
}
