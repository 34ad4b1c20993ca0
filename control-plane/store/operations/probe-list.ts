// Probes as operators see them: the list, and how many arrive and how fast.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import {
  PROBE_ENDS,
  PROBE_KINDS,
  PROBE_RESULTS,
  type ProbeKind,
  type ProbeResult,
} from '../database/operation-tables.ts';
import { allOf, naturalOrder, readPage, type Sort, sortedPage, textOrder } from '../database/sorted-page.ts';

export const probeRowSchema = z.object({
  id: z.string(),
  position: z.number(),
  kind: z.enum(PROBE_KINDS),
  is_scheduled: z.boolean(),
  from_number: z.string(),
  from_node: z.string(),
  from_slot: z.string(),
  from_carrier: z.string().nullable(),
  to_number: z.string(),
  to_node: z.string(),
  to_slot: z.string(),
  to_carrier: z.string().nullable(),
  started_at: timeOutput,
  ended_at: timeOutput.nullable(),
  result: z.enum(PROBE_RESULTS).nullable(),
  failed_end: z.enum(PROBE_ENDS).nullable(),
  why: z.string().nullable(),
  latency_ms: z.number().nullable(),
});
export type ProbeRow = z.output<typeof probeRowSchema>;
const COLUMNS = probeRowSchema.keyof().options;

/** The columns that probes can be sorted by. */
export const PROBE_SORTS = {
  at: sql`listed.started_at`,
  kind: textOrder('kind'),
  from: sql`(${naturalOrder('listed.from_node')} || '/' || ${naturalOrder('listed.from_slot')})`,
  to: sql`(${naturalOrder('listed.to_node')} || '/' || ${naturalOrder('listed.to_slot')})`,
  result: textOrder('result'),
  latency: sql`coalesce(listed.latency_ms, -1)`,
};

interface ProbeQuery {
  /** The node at either end. */
  node?: string | undefined;
  slot?: string | undefined;
  /** At either end, as modems report them. */
  carriers?: readonly string[] | undefined;
  result?: ProbeResult | undefined;
  kind?: ProbeKind | undefined;
  /** Begun at this time or later, and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
  sort?: Sort<keyof typeof PROBE_SORTS> | undefined;
  /** The position of the last row of the previous page. */
  after?: number | undefined;
  limit: number;
}

/** Newest first unless `sort` is given; one more than `limit` when there are more. */
export async function listProbes(db: Database, query: ProbeQuery): Promise<ProbeRow[]> {
  const { node, slot, carriers, result, kind, since, until, sort, after, limit } = query;
  const page = sortedPage({
    key: ['position'],
    sorts: PROBE_SORTS,
    sort,
    isNewestFirst: true,
    after: after === undefined ? undefined : [after],
    source: sql`probes as listed`,
  });
  return readPage(page, (where) =>
    db
      .selectFrom('probes as listed')
      .select(COLUMNS)
      .where(where)
      .$if(node !== undefined || slot !== undefined, (select) =>
        select.where((eb) => {
          const end = (side: 'from' | 'to') =>
            eb.and([
              ...(node === undefined ? [] : [eb(`${side}_node`, '=', node)]),
              ...(slot === undefined ? [] : [eb(`${side}_slot`, '=', slot)]),
            ]);
          return eb.or([end('from'), end('to')]);
        }),
      )
      .where(
        allOf([
          carriers === undefined
            ? undefined
            : sql<boolean>`(listed.from_carrier = ${anyOf(carriers)} or listed.to_carrier = ${anyOf(carriers)})`,
          result === undefined ? undefined : sql<boolean>`listed.result = ${result}`,
          kind === undefined ? undefined : sql<boolean>`listed.kind = ${kind}`,
          since === undefined ? undefined : sql<boolean>`listed.started_at >= ${since}::timestamptz`,
          until === undefined ? undefined : sql<boolean>`listed.started_at < ${until}::timestamptz`,
        ]),
      )
      .orderBy(page.order)
      .limit(limit + 1)
      .execute(),
  );
}

export async function findProbe(db: Database, id: string): Promise<ProbeRow | undefined> {
  return db.selectFrom('probes').select(COLUMNS).where('id', '=', id).executeTakeFirst();
}

export const probeSummarySchema = z.object({
  kind: z.enum(PROBE_KINDS),
  carrier: z.string().nullable(),
  /** The node of the slot; null in the summary by carrier. */
  node: z.string().nullable(),
  slot: z.string().nullable(),
  /** Whether the slot sent or received the text or call; null in the summary by carrier. */
  role: z.enum(['sender', 'recipient']).nullable(),
  delivered: z.number(),
  failed: z.number(),
  /** Counted neither as delivered nor as failed. */
  abandoned: z.number(),
  /** From the command to the fact. Null if none was delivered. */
  p50_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
});
export type ProbeSummaryRow = z.output<typeof probeSummarySchema>;

export const SPAN_HOURS = { hour: 1, day: 24, week: 7 * 24 } as const;
export const HOUR_MS = 60 * 60 * 1000;

/** A probe counts once per carrier, at either end. A failure does not count for an end that cannot have caused it. */
export async function summarizeProbes(
  db: Database,
  { by, span, now }: { by: 'carrier' | 'slot'; span: keyof typeof SPAN_HOURS; now: Date },
): Promise<ProbeSummaryRow[]> {
  const since = new Date(now.getTime() - SPAN_HOURS[span] * HOUR_MS);
  const column = (name: string) =>
    by === 'carrier' ? sql`null::text as ${sql.ref(name)}` : sql`ends.${sql.ref(name)}`;
  const { rows } = await sql<ProbeSummaryRow>`
    with ends as (
      select id, kind, result, failed_end, latency_ms, 'sender' as role,
        from_node as node, from_slot as slot, from_carrier as carrier from probes
      where started_at > ${since} and result is not null
      union all
      select id, kind, result, failed_end, latency_ms, 'recipient', to_node, to_slot, to_carrier from probes
      where started_at > ${since} and result is not null
    ), counted as (
      select distinct id, kind, carrier, result, latency_ms, ${column('node')}, ${column('slot')}, ${column('role')}
      from ends where result <> 'failed' or failed_end in (ends.role, 'either')
    )
    select kind, carrier, node, slot, role,
      count(*) filter (where result = 'delivered')::int as delivered,
      count(*) filter (where result = 'failed')::int as failed,
      count(*) filter (where result = 'abandoned')::int as abandoned,
      percentile_disc(0.5) within group (order by latency_ms) as p50_ms,
      percentile_disc(0.99) within group (order by latency_ms) as p99_ms
    from counted group by kind, carrier, node, slot, role order by carrier, ${naturalOrder('node')}, ${naturalOrder('slot')}, role, kind`.execute(
    db,
  );
  return rows;
}
