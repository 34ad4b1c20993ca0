// Recent events of slots, for operators.
import type { Database } from '../database/database.ts';

export interface SlotHistoryEvent {
  node: string;
  slot: string;
  kind: string;
  detail: string;
  at: Date;
}

/** The last events that nodes reported: of all nodes, of one node or of one slot. Newest first. */
export async function listSlotEvents(
  db: Database,
  { node, slot, limit }: { node?: string; slot?: string; limit: number },
): Promise<SlotHistoryEvent[]> {
  return db
    .selectFrom('node_events')
    .select(['node_id as node', 'slot', 'kind', 'detail', 'at'])
    .$if(node !== undefined, (query) => query.where('node_id', '=', String(node)))
    .$if(slot !== undefined, (query) => query.where('slot', '=', String(slot)))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}
