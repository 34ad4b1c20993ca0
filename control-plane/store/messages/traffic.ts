// The texts of subscribers by carrier, node or slot: how many were delivered, how fast, and why the others failed.
import { type RawBuilder, sql } from 'kysely';
import * as z from 'zod';
import { FAILURE_CLASSES } from '#shared/sms/failure-class.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import { allOf, naturalOrder, readPage, type Sort, sortedPage } from '../database/sorted-page.ts';

export type TrafficGroup = 'carrier' | 'node' | 'slot';

export const trafficRowSchema = z.object({
  /** Key of the row in its list: carrier, node, or node/slot. */
  key: z.string(),
  /** As modems report it: of the group, or of the last text of the slot. Null for nodes, and where it is not known. */
  carrier: z.string().nullable(),
  /** Null for carriers. */
  node: z.string().nullable(),
  /** Null for carriers and nodes. */
  slot: z.string().nullable(),
  /** All texts, with and without a known end. */
  sent: z.number(),
  delivered: z.number(),
  failed: z.number(),
  /** Delivered, in percent of those with a known end; null if there is none. */
  share: z.number().nullable(),
  /** From the request until the service had the report, in milliseconds; of delivered texts. */
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  /** How many failed, by class; classes without any are missing. */
  failures: z.partialRecord(z.enum(FAILURE_CLASSES), z.number()),
});
export type TrafficRow = z.output<typeof trafficRowSchema>;

/** The columns that the report can be sorted by. */
export const TRAFFIC_SORTS = {
  name: naturalOrder('listed.key'),
  sent: sql`listed.sent`,
  success: sql`coalesce(listed.share, 101)`,
  p50: sql`coalesce(listed.p50_ms, -1)`,
  p95: sql`coalesce(listed.p95_ms, -1)`,
};

interface TrafficQuery {
  by: TrafficGroup;
  hours: number;
  node?: string | undefined;
  carriers?: readonly string[] | undefined;
  sort?: Sort<keyof typeof TRAFFIC_SORTS> | undefined;
  /** The key of the last row of the previous page. */
  after?: string | undefined;
  limit: number;
}

const HOUR_MS = 60 * 60 * 1000;

const NONE = sql`null::text`;
/** The columns of a group: key, carrier, node, slot. */
const COLUMNS: Readonly<Record<TrafficGroup, readonly RawBuilder<unknown>[]>> = {
  carrier: [sql`coalesce(carrier, '')`, sql`max(carrier)`, NONE, NONE],
  node: [sql`node_id`, NONE, sql`max(node_id)`, NONE],
  slot: [
    sql`node_id || '/' || slot`,
    sql`(array_agg(carrier order by sent_at desc))[1]`,
    sql`max(node_id)`,
    sql`max(slot)`,
  ],
};

const failuresByClass = sql`jsonb_strip_nulls(jsonb_build_object(${sql.join(
  FAILURE_CLASSES.flatMap((name) => [
    sql`${sql.lit(name)}`,
    sql`nullif(count(*) filter (where failure_class = ${sql.lit(name)}), 0)`,
  ]),
)}))`;

/** Sorted by name unless `sort` is given; one more than `limit` when there are more. */
export async function listTraffic(db: Database, query: TrafficQuery, now: Date): Promise<TrafficRow[]> {
  const { by, hours, node, carriers, sort, after, limit } = query;
  const since = new Date(now.getTime() - hours * HOUR_MS);
  const page = sortedPage({
    key: ['key'],
    isNatural: true,
    sorts: TRAFFIC_SORTS,
    sort,
    after: after === undefined ? undefined : [after],
  });
  const [key, ...others] = COLUMNS[by];
  const [carrier, inNode, slot] = others;
  return readPage(page, async (where) => {
    const { rows } = await sql<TrafficRow>`
    with counted as (
      select ${key} as key, ${carrier} as carrier, ${inNode} as node, ${slot} as slot, count(*)::int as sent,
        count(*) filter (where status = 'delivered')::int as delivered,
        count(*) filter (where status in ('failed', 'expired'))::int as failed,
        percentile_disc(0.5) within group (order by report_ms) filter (where status = 'delivered') as p50_ms,
        percentile_disc(0.95) within group (order by report_ms) filter (where status = 'delivered') as p95_ms,
        ${failuresByClass} as failures
      from sent_texts where sent_at > ${since}::timestamptz and ${allOf([
        node === undefined ? undefined : sql<boolean>`node_id = ${node}`,
        carriers === undefined ? undefined : sql<boolean>`carrier = ${anyOf(carriers)}`,
      ])} group by 1
    ), listed as (
      select *, (100.0 * delivered / nullif(delivered + failed, 0))::float as share from counted
    )
    select listed.* from listed where ${where} order by ${page.order} limit ${limit + 1}`.execute(db);
    return rows;
  });
}
