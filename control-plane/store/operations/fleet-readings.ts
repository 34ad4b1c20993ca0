// Every approved node with the slots of its last report, for metrics.
import { sql } from 'kysely';
import type { MeasuredNode } from '../../metrics/fleet-metrics.ts';
import type { Database } from '../database/database.ts';
import { SLOT_ROWS } from '../fleet/slots.ts';

/** Nodes that wait for approval, and revoked ones, are left out. */
export async function readMeasuredNodes(db: Database, now: Date): Promise<MeasuredNode[]> {
  const { rows } = await sql<MeasuredNode>`
    select nodes.id as node, coalesce(link_alive_until > ${now}::timestamptz, false) as "isLinked",
      journal_depth as "journalDepth", alarms,
      coalesce((select json_agg(json_build_object('slot', slot, 'state', state, 'signalDbm', signal_dbm,
        'storageUsed', storage -> 'used', 'storageTotal', storage -> 'total') order by slot)
        from (${SLOT_ROWS}) as slot_rows where is_reported and slot_rows.node = nodes.id), '[]') as slots
    from nodes where enrolled_at is not null and revoked_at is null and approval_pending_since is null
    order by nodes.id`.execute(db);
  return rows;
}
