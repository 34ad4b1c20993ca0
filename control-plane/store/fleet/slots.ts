// The slots of all nodes: written from reports, read by lists, pages, alerts and metrics.
import { sql } from 'kysely';
import type * as z from 'zod';
import { type Slot, slotSchema } from '#shared/link/slot.ts';
import { CLAIM_REFUSED } from '#shared/operator/slot-health.ts';
import type { DatabaseTransaction } from '../database/database.ts';
import { naturalOrder } from '../database/sorted-page.ts';

/** For a row of `nodes`: the disk of the node refuses its journal. It keeps no text, and takes no command. */
export const HAS_NO_JOURNAL = sql<boolean>`'journal_unavailable' = any (nodes.alarms)`;

/** A slot that serves no number now, and the reason if the node reports one. */
export const unregisteredSlotSchema = slotSchema.pick({ slot: true, state: true, reason: true });
export type UnregisteredSlot = z.output<typeof unregisteredSlotSchema>;

/** Replaces the slots of a node by the reported ones. `refused`: slots whose SIM the node may not have. */
export async function writeSlots(
  trx: DatabaseTransaction,
  nodeId: string,
  slots: readonly Slot[],
  refused: ReadonlySet<string>,
): Promise<void> {
  const names = slots.map(({ slot }) => slot);
  const reasons = slots.map(({ slot, reason }) => (refused.has(slot) ? CLAIM_REFUSED : reason));
  await sql`
    with gone as (
      delete from slots where node_id = ${nodeId} and slot <> all (${names}::text[])
    )
    insert into slots (node_id, slot, state, reason, iccid, voice_settings)
    select distinct on (reported.slot) ${nodeId}, reported.* from unnest(${names}::text[],
      ${slots.map(({ state }) => state)}::text[], ${reasons}::text[], ${slots.map(({ iccid }) => iccid)}::text[],
      ${slots.map(({ voice_settings: settings }) => (settings == null ? null : JSON.stringify(settings)))}::jsonb[])
      as reported (slot, state, reason, iccid, voice_settings)
    on conflict (node_id, slot) do update set state = excluded.state, reason = excluded.reason, iccid = excluded.iccid,
      voice_settings = excluded.voice_settings
    where (slots.state, slots.reason, slots.iccid, slots.voice_settings)
      is distinct from (excluded.state, excluded.reason, excluded.iccid, excluded.voice_settings)`.execute(
    trx,
  );
}

/** Every slot of its node's last report: the one read of the table. `trouble`: the reason that the node reports. */
export const REPORTED_SLOTS = sql`
  select node_id as node, slot, state, reason as trouble, iccid as reported_iccid, voice_settings from slots`;

/**
 * Every slot of its node's last report (`is_reported`), and every slot that is out of service. Columns: its `state`; the `trouble` that the
 * node reports; the `reported_iccid`; those of the SIM if the node holds it; since when, by whom and for what `reason` the slot is out of
 * service. `storage`: `{ used, total }`. `voice_settings`: as the node reports them.
 */
export const SLOT_ROWS = sql`
  select coalesce(reported.node, taken.node_id) as node, coalesce(reported.slot, taken.slot) as slot,
    reported.slot is not null as is_reported, coalesce(reported.state, 'lost') as state, reported.trouble,
    reported.voice_settings, reported.reported_iccid, sims.iccid, sims.operator as carrier, sims.signal_dbm, sims.model, sims.usb_path,
    sims.device_id, sims.bound_to, sims.swept_at, sims.updated_at,
    case when sims.storage_used is not null and sims.storage_total is not null
      then json_build_object('used', sims.storage_used, 'total', sims.storage_total) end as storage,
    taken.out_of_service_at, taken.reason, taken.by
  from (${REPORTED_SLOTS}) as reported
  full join (select * from slot_service where out_of_service_at is not null) as taken
    on taken.node_id = reported.node and taken.slot = reported.slot
  left join sims on sims.node_id = reported.node and sims.slot = reported.slot`;

/** For a row of `nodes`: its slots that serve no number. */
export const UNREGISTERED_OF_NODE = sql<UnregisteredSlot[]>`(
  select coalesce(json_agg(json_build_object('slot', slot, 'state', state, 'reason', trouble) order by ${naturalOrder('slot')}), '[]')
  from (${REPORTED_SLOTS}) as reported where node = nodes.id and (state <> 'registered' or trouble = ${sql.lit(CLAIM_REFUSED)}))`;
