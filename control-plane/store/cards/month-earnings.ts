// Earnings of payments in a month, by number.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../database/database.ts';

/** The first day of the month, UTC. */
export const monthOf = (time: Date): string => `${time.toISOString().slice(0, 7)}-01`;

/**
 * By number, chain and token: smallest units that payments earn in a month. The price of a payment, less its refund,
 * is spread over its year. A month earns its days of that. The refund of a payment that was given up (`closed`) counts as 0.
 */
const sharesOf = (
  month: string,
  { number, paid }: { number: RawBuilder<unknown>; paid: RawBuilder<unknown> },
): RawBuilder<unknown> => sql`
  select ${number} as number, payments.chain_id, lower(payments.asset) as asset,
    floor(sum((payments.value::numeric - case payments.state when 'closed' then 0 else coalesce(payments.refund_value, 0) end) * case
      when payments.paid_until > payments.paid_from
        then extract(epoch from least(payments.paid_until, next) - greatest(payments.paid_from, first))::numeric
          / extract(epoch from payments.paid_until - payments.paid_from)::numeric
      else 1 end)) as value
  from ${paid}
  cross join (
    select ${month}::timestamp at time zone 'UTC' as first,
      (${month}::timestamp + interval '1 month') at time zone 'UTC' as next
  ) as bounds
  where payments.state in ('applied', 'refunding', 'refunded', 'closed')
    and payments.paid_from < next and payments.paid_until >= first
    and (payments.paid_until > first or payments.paid_until = payments.paid_from)
  group by 1, 2, 3`;

/** Earnings of all subscriptions, with those that were deleted in the month. */
export const sharesIn = (month: string): RawBuilder<unknown> => sql`
  select number, chain_id, asset, sum(value)::text as value from (
    ${sharesOf(month, {
      number: sql`subscriptions.number`,
      paid: sql`payments join subscriptions on subscriptions.id = payments.subscription_id`,
    })}
    union all select number, chain_id, asset, value from ended_earnings where month = ${month}::date
  ) as shares group by 1, 2, 3`;

/**
 * Keeps what a subscription earned in the present month, without the subscription. Call it in the transaction that deletes it.
 */
export async function keepEarnings(
  trx: Database,
  { id, number }: { id: string; number: string },
  now: Date,
): Promise<void> {
  const month = monthOf(now);
  const shares = sharesOf(month, {
    number: sql`${number}::text`,
    paid: sql`(select * from payments where subscription_id = ${id}) as payments`,
  });
  await sql`
    insert into ended_earnings (month, number, chain_id, asset, value)
    select ${month}::date, number, chain_id, asset, value
    from (${shares}) as shares
    on conflict (month, number, chain_id, asset) do update set value = ended_earnings.value + excluded.value`.execute(
    trx,
  );
}
