// Cards whose plan ends soon, or has ended.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

export interface PlanEnd {
  iccid: string;
  label: string | null;
  plan: string | null;
  /** The last day of the plan, YYYY-MM-DD. */
  lastDay: string;
  /** Days until then; negative once it is over. */
  daysLeft: number;
  /** A customer has paid for the number of the card. */
  isSold: boolean;
}

/** Within `days`, by UTC, the earliest first. Retired numbers do not count. */
export async function findPlanEnds(
  db: Database,
  { days, limit, now }: { days: number; limit: number; now: Date },
): Promise<PlanEnd[]> {
  const { rows } = await sql<PlanEnd>`
    select cards.iccid, cards.label, cards.plan, cards.plan_expires::text as "lastDay",
      cards.plan_expires - (${now}::timestamptz at time zone 'UTC')::date as "daysLeft",
      subscriptions.id is not null as "isSold"
    from cards
    left join numbers on numbers.iccid = cards.iccid and numbers.retired_at is null
    left join subscriptions on subscriptions.number = numbers.number and subscriptions.expires_at > ${now}::timestamptz
    where cards.plan_expires <= (${now}::timestamptz at time zone 'UTC')::date + ${days}::int
      and (numbers.number is not null
        or not exists (select from numbers as retired where retired.iccid = cards.iccid and retired.retired_at is not null))
    order by cards.plan_expires, cards.iccid limit ${limit}`.execute(db);
  return rows;
}
