// One row for each slot that probes used: its last result, since when, and how many probes arrived.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import type { ProbeResult } from '../database/operation-tables.ts';
import { allOf, naturalOrder, readPage, type Sort, sortedPage, textOrder } from '../database/sorted-page.ts';
import { HOUR_MS, SPAN_HOURS } from './probe-list.ts';

export const probedSlotSchema = z.object({
  node: z.string(),
  slot: z.string(),
  /** As its modem reported the network for the last probe. */
  carrier: z.string().nullable(),
  last_result: z.enum(['delivered', 'failed']),
  last_at: timeOutput,
  /** Why the last probe failed. */
  why: z.string().nullable(),
  /** The first of the probes since which every result was the last one, within the span. */
  since: timeOutput,
  delivered: z.number(),
  failed: z.number(),
  /** Delivered, in percent of those with an end. */
  share: z.number(),
});
export type ProbedSlotRow = z.output<typeof probedSlotSchema>;

/** The columns that slots of probes can be sorted by. */
export const PROBED_SLOT_SORTS = {
  node: naturalOrder('listed.node'),
  slot: naturalOrder('listed.slot'),
  carrier: textOrder('carrier'),
  result: textOrder('last_result'),
  at: sql`listed.last_at`,
  success: sql`listed.share`,
  since: sql`listed.since`,
};

interface ProbedSlotQuery {
  span: keyof typeof SPAN_HOURS;
  node?: string | undefined;
  carriers?: readonly string[] | undefined;
  /** The last result. */
  result?: ProbeResult | undefined;
  sort?: Sort<keyof typeof PROBED_SLOT_SORTS> | undefined;
  after?: { node: string; slot: string } | undefined;
  limit: number;
}

/**
 * Sorted by node and slot unless `sort` is given; one more than `limit` when there are more. A failure does not count for an end that
 * cannot have caused it, and an abandoned probe for none.
 */
export async function listProbedSlots(
  db: Database,
  query: ProbedSlotQuery,
  now: Date,
): Promise<ProbedSlotRow[]> {
  const { span, node, carriers, result, sort, after, limit } = query;
  const from = new Date(now.getTime() - SPAN_HOURS[span] * HOUR_MS);
  const page = sortedPage({
    key: ['node', 'slot'],
    isNatural: true,
    sorts: PROBED_SLOT_SORTS,
    sort,
    after: after && [after.node, after.slot],
  });
  return readPage(page, async (where) => {
    const { rows } = await sql<ProbedSlotRow>`
    with ends as (
      select position, result, failed_end, why, started_at, 'sender' as role,
        from_node as node, from_slot as slot, from_carrier as carrier from probes
      where started_at > ${from} and result in ('delivered', 'failed')
      union all
      select position, result, failed_end, why, started_at, 'recipient', to_node, to_slot, to_carrier from probes
      where started_at > ${from} and result in ('delivered', 'failed')
    ), counted as (
      select *, first_value(result) over newest as last_result, first_value(carrier) over newest as last_carrier,
        first_value(why) over newest as last_why
      from ends where result = 'delivered' or failed_end in (role, 'either')
      window newest as (partition by node, slot order by position desc)
    ), streaks as (
      select *, max(position) filter (where result <> last_result) over (partition by node, slot) as broken_at
      from counted
    ), listed as (
      select node, slot, last_carrier as carrier, last_result, max(started_at) as last_at, last_why as why,
        min(started_at) filter (where position > coalesce(broken_at, 0)) as since,
        count(*) filter (where result = 'delivered')::int as delivered,
        count(*) filter (where result = 'failed')::int as failed,
        round(100.0 * count(*) filter (where result = 'delivered') / count(*), 1)::float8 as share
      from streaks group by node, slot, last_carrier, last_result, last_why
    )
    select * from listed where ${where} and ${allOf([
      node === undefined ? undefined : sql<boolean>`node = ${node}`,
      carriers === undefined ? undefined : sql<boolean>`carrier = ${anyOf(carriers)}`,
      result === undefined ? undefined : sql<boolean>`last_result = ${result}`,
    ])} order by ${page.order} limit ${limit + 1}`.execute(db);
    return rows;
  });
}
