// Costs and earnings of each SIM in a month: computed from cards and payments while the month lasts, and stored as they were at its end.
import { type RawBuilder, sql } from 'kysely';
import * as z from 'zod';
import { earnedSchema } from '../../domain/month-totals.ts';
import { type Database, inTransaction } from '../database/database.ts';
import { allOf, contains, sortedPage } from '../database/sorted-page.ts';
import { monthOf, sharesIn } from './month-earnings.ts';

export const simCostSchema = z.object({
  iccid: z.string(),
  number: z.string().nullable(),
  label: z.string().nullable(),
  node: z.string().nullable(),
  /** The carrier that bills the card, as the fleet file has it, or else the network of the SIM. */
  carrier: z.string().nullable(),
  plan: z.string().nullable(),
  /** Dollars with two digits after the point; null if the fleet file gives none. */
  cost: z.string().nullable(),
  /** By token. */
  earned: z.array(earnedSchema),
  /** The number has, or had at the end of the month, a subscriber, also one in the grace time. */
  is_sold: z.boolean(),
});
export type SimCostRow = z.output<typeof simCostSchema>;

/**
 * The month as it is now, in the columns of `SimCostRow`. The earnings of a number, also with former subscribers, count for the card that has
 * the number now. A card that no node reports now keeps the node and the carrier that it had in the month.
 */
const monthNow = (month: string): RawBuilder<unknown> => sql`
  with shares as (${sharesIn(month)}
  ), earnings as (
    select number, json_agg(json_build_object('chain_id', chain_id, 'asset', asset, 'value', value)
      order by chain_id, asset) as earned
    from shares group by number
  )
  select known.iccid, numbers.number, cards.label, coalesce(sim_tenures.node_id, stored.node_id) as node,
    coalesce(cards.carrier, sims.operator, stored.carrier) as carrier, cards.plan, cards.monthly_cost::text as cost,
    coalesce(earnings.earned, '[]') as earned,
    subscriptions.number is not null as is_sold
  from (select iccid from cards union select iccid from numbers where retired_at is null) as known
  left join cards on cards.iccid = known.iccid
  left join numbers on numbers.iccid = known.iccid and numbers.retired_at is null
  left join sim_months as stored on stored.month = ${month}::date and stored.iccid = known.iccid
  left join sims on sims.iccid = known.iccid
  left join sim_tenures on sim_tenures.iccid = known.iccid and sim_tenures.until is null
  left join subscriptions on subscriptions.number = numbers.number
  left join earnings on earnings.number = numbers.number`;

/**
 * Cards that left the fleet in this month are in its report as they last were. A number that moved counts only for the card that has it now: a
 * card that it left is listed for its cost alone.
 */
const presentMonth = (month: string): RawBuilder<unknown> => sql`
  ${monthNow(month)} union all
  select stored.iccid, case when moved.number is null then stored.number end, stored.label, stored.node, stored.carrier,
    stored.plan, stored.cost, case when moved.number is null then stored.earned else '[]' end::json,
    stored.is_sold and moved.number is null
  from (${storedMonth(month)}) as stored
  left join numbers as moved on moved.number = stored.number and moved.iccid <> stored.iccid and moved.retired_at is null
  where not exists (select from cards where cards.iccid = stored.iccid)
    and not exists (select from numbers where numbers.iccid = stored.iccid and retired_at is null)
    and (moved.number is null or stored.cost is not null)`;

const storedMonth = (month: string): RawBuilder<unknown> => sql`
  select iccid, number, label, node_id as node, carrier, plan, cost::text as cost, earned, is_sold
  from sim_months where month = ${month}::date`;

interface CostQuery {
  /** Its first day, YYYY-MM-DD. */
  month: string;
  node?: string | undefined;
  /** Part of an ICCID, number, label, plan, carrier or node. */
  find?: string | undefined;
  /** The last ICCID of the previous page. */
  after?: string | undefined;
  limit: number;
}

/** Sorted by ICCID; one more than `limit` when there are more. A month that is over is as `storeMonth` last wrote it. */
export async function listSimCosts(db: Database, query: CostQuery, now: Date): Promise<SimCostRow[]> {
  const { month, node, find, after, limit } = query;
  const page = sortedPage({
    key: ['iccid'],
    sorts: {},
    sort: undefined,
    after: after === undefined ? undefined : [after],
  });
  const source = month === monthOf(now) ? presentMonth(month) : storedMonth(month);
  const { rows } = await sql<SimCostRow>`
    with listed as (${source})
    select iccid, number, label, node, carrier, plan, cost, earned, is_sold from listed
    where ${page.where} and ${allOf([
      node === undefined ? undefined : sql<boolean>`node = ${node}`,
      find === undefined
        ? undefined
        : contains(['iccid', 'number', 'label', 'plan', 'carrier', 'node'], find),
    ])} order by ${page.order} limit ${limit + 1}`.execute(db);
  return rows;
}

/**
 * Stores the present month. A number that was retired in the month keeps what it earned before; one that moved takes it along. Call it often:
 * the last time in a month counts.
 */
export async function storeMonth(db: Database, now: Date): Promise<void> {
  const month = monthOf(now);
  await inTransaction(db, async (trx) => {
    await sql`
      delete from sim_months using numbers
      where month = ${month}::date and numbers.number = sim_months.number and numbers.iccid <> sim_months.iccid
        and numbers.retired_at is null and sim_months.cost is null`.execute(trx);
    await sql`
      update sim_months set number = null, earned = '[]', is_sold = false from numbers
      where month = ${month}::date and numbers.number = sim_months.number and numbers.iccid <> sim_months.iccid
        and numbers.retired_at is null`.execute(trx);
    await sql`
      insert into sim_months (month, iccid, number, label, node_id, carrier, plan, cost, earned, is_sold)
      select ${month}::date, iccid, number, label, node, carrier, plan, cost::numeric, earned::jsonb, is_sold
      from (${monthNow(month)}) as present
      on conflict (month, iccid) do update set
        number = coalesce(excluded.number, sim_months.number), label = excluded.label,
        node_id = excluded.node_id, carrier = excluded.carrier, plan = excluded.plan,
        cost = excluded.cost, is_sold = excluded.is_sold,
        earned = case when excluded.number is null then sim_months.earned else excluded.earned end`.execute(
      trx,
    );
  });
}
