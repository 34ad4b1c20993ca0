// What is known of SIMs before a node holds them for sure: who may have them first, who has proven that it has them, and
// how many a node shows that nobody knows.
import { sql } from 'kysely';
import { NEW_SIMS_MAX } from '../../domain/sim-claim.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { endTenures } from './sim-tenures.ts';

/** New SIMs of a node are counted for so long: a rack that starts anew shows the same ones. */
const NEW_SIMS_MS = 24 * 60 * 60_000;

/** Of these SIMs, those that one node only may hold first: the node by SIM. */
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
 * Notes SIMs that a node reports and nobody imported or admitted. Returns how many it has reported of late, as far as they
 * are counted; 0 for a node that an operator has approved with so many.
 */
export async function countNewSims(
  trx: DatabaseTransaction,
  nodeId: string,
  iccids: readonly string[],
  now: Date,
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
    where not exists (select from numbers where numbers.iccid = shown.iccid and unadmitted_since is null)
    order by iccid limit ${NEW_SIMS_MAX + 1}`.execute(trx);
  const shown = rows.map(({ iccid }) => iccid);
  if (isOld || shown.join() !== before.join())
    await trx
      .updateTable('nodes')
      .set({ new_sims: shown, ...(isOld ? { new_sims_since: now } : {}) })
      .where('id', '=', nodeId)
      .execute();
  return shown.length;
}

/** These SIMs are with the node that an operator has named for them. */
export async function proveExpected(
  trx: DatabaseTransaction,
  nodeId: string,
  iccids: readonly string[],
): Promise<void> {
  if (iccids.length === 0) return;
  await sql`
    update numbers set first_node = null, unproven = nullif(unproven, 'holder')
    where iccid = any(${iccids}::text[]) and first_node = ${nodeId} and retired_at is null`.execute(trx);
}

/** An operator says who holds this SIM. */
export async function proveHolder(trx: DatabaseTransaction, iccid: string): Promise<void> {
  await sql`
    update numbers set first_node = null, unproven = nullif(unproven, 'holder')
    where iccid = ${iccid} and retired_at is null`.execute(trx);
}

/** Keeps changes of the tenures of these SIMs away until the transaction ends. Before any lock of numbers, as reports do it. */
export async function lockOpenTenures(trx: DatabaseTransaction, iccids: readonly string[]): Promise<void> {
  await sql`
    select iccid from sim_tenures where iccid = any(${iccids}::text[]) and until is null
    order by iccid for update`.execute(trx);
}

/**
 * Expects SIMs at these nodes, unless it is proven who holds them. A node that holds one and is not named loses it: it may
 * have guessed the ICCID. The tenures are locked.
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
    join numbers on numbers.iccid = named.iccid and numbers.retired_at is null and numbers.unproven = 'holder'
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

/** Notes what delivered texts, one each way with SIMs of other nodes, say of the present holders of SIMs. */
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
