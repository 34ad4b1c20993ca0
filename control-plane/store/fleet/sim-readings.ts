// Values that change with each poll of a modem: signal, storage, the time of the sweep. They decide nothing about who holds a SIM.
import { sql } from 'kysely';
import type { Slot } from '#shared/link/slot.ts';
import type { Database } from '../database/database.ts';

/** A slot without them: equal for two reports between which only they changed. */
export const withoutReadings = (slot: Slot): Slot => ({
  ...slot,
  signal_dbm: null,
  storage: null,
  swept_at: null,
});

/**
 * Stores them for the SIMs of a node. Returns false if the node does not hold all of these SIMs, or has a newer link, or a report is being
 * written: then the whole report must be stored.
 */
export async function refreshReadings(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  now: Date,
): Promise<boolean> {
  const sims = slots.filter(({ iccid }) => iccid !== null);
  if (sims.length === 0) return true;
  const { numAffectedRows = 0n } = await sql`
    with mine as (
      select iccid from sims where node_id = ${nodeId} and iccid = any(${sims.map(({ iccid }) => iccid)}::text[])
        and exists (select from nodes where id = ${nodeId} and link_id = ${linkId} and revoked_at is null)
      for no key update skip locked
    )
    update sims set signal_dbm = reported.signal_dbm, storage_used = reported.storage_used,
      storage_total = reported.storage_total, updated_at = ${now}::timestamptz,
      swept_at = case when reported.swept_at > ${now}::timestamptz then ${now}::timestamptz else reported.swept_at end
    from mine, unnest(${sims.map(({ iccid }) => iccid)}::text[], ${sims.map(({ signal_dbm }) => signal_dbm)}::integer[],
      ${sims.map(({ storage }) => storage?.used ?? null)}::integer[],
      ${sims.map(({ storage }) => storage?.total ?? null)}::integer[],
      ${sims.map(({ swept_at }) => swept_at)}::timestamptz[])
      as reported (iccid, signal_dbm, storage_used, storage_total, swept_at)
    where sims.iccid = mine.iccid and reported.iccid = mine.iccid`.execute(db);
  return Number(numAffectedRows) === sims.length;
}
