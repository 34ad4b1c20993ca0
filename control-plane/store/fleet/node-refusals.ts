// Refused reports of nodes, counted by reason, for their operator.
import { sql } from 'kysely';
import * as z from 'zod';
import type { Database } from '../database/database.ts';
import { NODE_REFUSALS, type NodeRefusal } from '../database/sim-tables.ts';

/** Adds to a count. A negative `count` corrects it when a refused report turns out to be valid. */
export async function addRefusals(
  db: Database,
  { nodeId, reason, count }: { nodeId: string; reason: NodeRefusal; count: number },
  now: Date,
): Promise<void> {
  if (count === 0) return;
  await sql`
    insert into node_refusals (node_id, reason, count, last_at)
    select ${nodeId}, ${reason}, ${Math.max(0, count)}::bigint, ${now}::timestamptz
    where exists (select from nodes where id = ${nodeId})
    on conflict (node_id, reason) do update set
      count = greatest(0, node_refusals.count + ${count}::bigint),
      last_at = case when ${count}::bigint > 0 then excluded.last_at else node_refusals.last_at end`.execute(
    db,
  );
}

export const refusalsSchema = z.partialRecord(z.enum(NODE_REFUSALS), z.number());
export type Refusals = z.output<typeof refusalsSchema>;

/** When each node was last refused a report. */
export async function readLastRefused(db: Database): Promise<Map<string, Date>> {
  const rows = await db
    .selectFrom('node_refusals')
    .select(['node_id', (eb) => eb.fn.max('last_at').as('at')])
    .where('count', '>', 0)
    .groupBy('node_id')
    .execute();
  return new Map(rows.map(({ node_id, at }) => [node_id, at]));
}

/** Refused reports since the beginning, by node. */
export async function readRefusals(db: Database): Promise<Map<string, Refusals>> {
  const rows = await db
    .selectFrom('node_refusals')
    .select(['node_id', 'reason', 'count'])
    .where('count', '>', 0)
    .orderBy('reason')
    .execute();
  const byNode = new Map<string, Refusals>();
  for (const { node_id, reason, count } of rows)
    byNode.set(node_id, { ...byNode.get(node_id), [reason]: Number(count) });
  return byNode;
}
