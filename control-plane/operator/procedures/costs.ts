// Costs and earnings of SIMs in a month.
import * as z from 'zod';
import { iccidSchema } from '#shared/identities.ts';
import { costGroupSchema, groupCosts } from '../../domain/month-totals.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { monthOf } from '../../store/cards/month-earnings.ts';
import { listSimCosts, type SimCostRow, simCostSchema } from '../../store/cards/sim-costs.ts';
import type { Database } from '../../store/database/database.ts';
import { findSchema, LIMIT_MAX, limitSchema, monthSchema, nodeSchema } from './fields.ts';
import { pageOf, pageSchema, procedure } from './procedure.ts';

/** More SIMs than one service has. */
const SIMS_MAX = 100_000;

export const COST_PROCEDURES = {
  costs: procedure({
    input: z.object({
      /** Default: the present month. */
      month: monthSchema.optional(),
      node: nodeSchema.optional(),
      find: findSchema.optional(),
      sort: z.undefined().optional(),
      after: iccidSchema.optional(),
      limit: limitSchema,
    }),
    output: pageSchema(simCostSchema, z.string()),
    run: async ({ db, now }, { month, ...query }) =>
      pageOf(
        await listSimCosts(db, { ...query, month: knownMonth(month, now) }, now),
        query.limit,
        ({ iccid }) => iccid,
      ),
  }),
  costGroups: procedure({
    input: z.object({ month: monthSchema.optional(), by: z.enum(['node', 'carrier']) }),
    output: z.array(costGroupSchema),
    async run({ db, now }, { month, by }) {
      return groupCosts(await allSims(db, knownMonth(month, now), now), by);
    },
  }),
};

function knownMonth(month: string | undefined, now: Date): string {
  const present = monthOf(now);
  const asked = month === undefined ? present : `${month}-01`;
  if (asked > present) throw new OperatorRefusal(`${month} has not begun.`);
  return asked;
}

async function allSims(db: Database, month: string, now: Date): Promise<SimCostRow[]> {
  const sims: SimCostRow[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const rows = await listSimCosts(db, { month, after, limit: LIMIT_MAX }, now);
    const page = pageOf(rows, LIMIT_MAX, ({ iccid }) => iccid);
    sims.push(...page.rows);
    after = page.next;
    if (sims.length > SIMS_MAX) throw new OperatorRefusal(`The month has more than ${SIMS_MAX} SIMs.`);
  }
  return sims;
}
