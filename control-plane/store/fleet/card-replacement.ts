// A card that takes the place of another one: the carrier made it for the same contract.
import { sql } from 'kysely';
import type { DatabaseTransaction } from '../database/database.ts';

const FIELDS = ['label', 'carrier', 'plan', 'plan_expires', 'monthly_cost'] as const;

/**
 * Gives the new card the label, carrier, plan and cost of the former one, as far as it has none of its own, and removes the former one from
 * the fleet file's cards with its PIN. Its cost of the month counts once. Returns the fields that were taken over.
 */
export async function replaceCard(
  trx: DatabaseTransaction,
  { from, to, now }: { from: string; to: string; now: Date },
): Promise<string[]> {
  const rows = await trx
    .selectFrom('cards')
    .select(['iccid', ...FIELDS])
    .where('iccid', 'in', [from, to])
    .execute();
  const former = rows.find(({ iccid }) => iccid === from);
  if (former === undefined) return [];
  const own = rows.find(({ iccid }) => iccid === to);
  const taken = FIELDS.filter((field) => former[field] !== null && (own?.[field] ?? null) === null);
  const ownOr = (field: string) =>
    sql`${sql.ref(field)} = coalesce(cards.${sql.ref(field)}, excluded.${sql.ref(field)})`;
  const columns = sql.join(FIELDS.map((field) => sql.ref(field)));
  await sql`
    insert into cards (iccid, ${columns}, updated_at)
    select ${to}, ${columns}, ${now}::timestamptz from cards where iccid = ${from}
    on conflict (iccid) do update set ${sql.join(FIELDS.map(ownOr))}, updated_at = excluded.updated_at`.execute(
    trx,
  );
  await trx.deleteFrom('cards').where('iccid', '=', from).execute();
  if (taken.includes('monthly_cost'))
    await sql`
      delete from sim_months where iccid = ${from} and month = date_trunc('month', ${now}::timestamptz at time zone 'UTC')::date`.execute(
      trx,
    );
  return taken;
}
