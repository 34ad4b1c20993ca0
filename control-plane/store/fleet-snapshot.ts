// Nodes, slots, payments and the pool at one moment, as alerts look at them.
import { sql } from 'kysely';
import type { FleetSnapshot, NodeReading, SlotReading } from '../alerts/conditions.ts';
import type { DatabaseTransaction } from './database.ts';
import { countAvailable } from './number-pool.ts';
import { listPayments } from './payment-list.ts';

const PAYMENTS_MAX = 500;

export async function readFleet(trx: DatabaseTransaction, now: Date): Promise<Omit<FleetSnapshot, 'gas'>> {
  const stuck = await listPayments(trx, { isStuck: true, limit: PAYMENTS_MAX }, now);
  return {
    now,
    nodes: await readNodes(trx, now),
    slots: await readSlots(trx),
    payments: {
      stuck: stuck
        .slice(0, PAYMENTS_MAX)
        .map(({ id, state, since, transfer_hash }) => ({ id, state, since, isPaid: transfer_hash !== null })),
      isCut: stuck.length > PAYMENTS_MAX,
    },
    available: await countAvailable(trx, now),
  };
}

/**
 * What waits for approval and has no SIM was never in service, or is not any more. One with SIMs is as far away as before
 * its new key.
 */
async function readNodes(trx: DatabaseTransaction, now: Date): Promise<NodeReading[]> {
  const rows = await trx
    .selectFrom('nodes')
    .select(['id', 'link_alive_until', 'journal_depth'])
    .where('enrolled_at', 'is not', null)
    .where('revoked_at', 'is', null)
    .where((eb) =>
      eb.or([
        eb('approval_pending_since', 'is', null),
        eb.exists(eb.selectFrom('sims').select('iccid').whereRef('sims.node_id', '=', 'nodes.id')),
      ]),
    )
    .execute();
  return rows.map(({ id, link_alive_until: until, journal_depth: journalDepth }) => ({
    ...{ id, isLinked: until !== null && until > now, journalDepth },
  }));
}

/** Registered slots have a SIM; the others are on the row of their node, and may have one, too. What an operator took out is his. */
async function readSlots(trx: DatabaseTransaction): Promise<SlotReading[]> {
  const { rows } = await sql<Omit<SlotReading, 'storage'> & { used: number | null; total: number | null }>`
    with slots as (
      select node_id, slot, state, reason from sims where state = 'registered'
      union all
      select nodes.id, slot ->> 'slot', slot ->> 'state', slot ->> 'reason'
      from nodes, jsonb_array_elements(unregistered_slots) as slot
    )
    select slots.node_id as "nodeId", slots.slot, slots.state, slots.reason,
      storage_used as used, storage_total as total
    from slots left join sims on sims.node_id = slots.node_id and sims.slot = slots.slot
    where not exists (
      select from slot_service as taken where taken.node_id = slots.node_id and taken.slot = slots.slot
        and taken.out_of_service_at is not null and taken.by = 'operator'
    )`.execute(trx);
  return rows.map(({ used, total, ...slot }) => ({
    ...slot,
    storage: used === null || total === null ? null : { used, total },
  }));
}
