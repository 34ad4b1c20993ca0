// Which subscriber had a number at which time: of former ones the last, of the present one the subscription. A text belongs to the holder
// at the time at which the service center received it (3GPP TS 23.040 §9.2.3.11). If that time is not known, the text belongs to no holder.
import { type RawBuilder, sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { TENURE_SLACK_MS } from './sim-tenures.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Largest error of a correct clock, of this service or of a service center. Service centers write whole seconds. */
export const CLOCK_ERROR_MAX_MS = 10_000;

/** A node's clock with a larger error is corrected. */
const NODE_CLOCK_ERROR_MAX_MS = 60_000;

/** With correct clocks, a stamp is at most this much later than the time at which the node read the text. */
export const STAMP_LEAD_MAX_MS = NODE_CLOCK_ERROR_MAX_MS + CLOCK_ERROR_MAX_MS;

/** Largest error of a stamp from a service center that writes the wrong time zone. */
export const ZONE_ERROR_MAX_MS = DAY_MS;

/**
 * A sweep that begins this long after the last holder, by the node's clock, came after their last text, whatever the errors of the clocks.
 */
export const SWEEP_AFTER_MS = NODE_CLOCK_ERROR_MAX_MS + 3 * CLOCK_ERROR_MAX_MS;

/** US carriers discard a text that they cannot deliver after three days, some after seven. */
export const SERVICE_CENTRE_KEEPS_MS = 7 * DAY_MS;

/** Longer than nearly every validity period (at most 63 weeks, 3GPP TS 23.040 §9.2.3.12.1): an older stamp is of a wrong clock. */
const STAMP_AGE_MAX_MS = 365 * DAY_MS;

const ms = (count: number): RawBuilder<unknown> => sql.raw(`interval '${count} milliseconds'`);

/** When the last former holder of a row of `numbers`, or of its SIM, lost it; null if there was none. */
const freedAt = sql<Date | null>`greatest(
  (select max(held_until) from former_holdings where former_holdings.iccid = numbers.iccid),
  (select max(held_until) from former_holdings where former_holdings.number = numbers.number))`;

/**
 * Whether the SIM was swept since the last holder of the number and its quarantine. Without a former holder, any sweep counts. For joined
 * rows of `numbers` and `sims`.
 */
export const isSwept = sql<boolean>`coalesce(sims.swept_at >= greatest(
  ${freedAt} + ${ms(SWEEP_AFTER_MS)}, numbers.quarantined_until, '-infinity'::timestamptz), false)`;

/** Nodes deliver texts of a former card for this long. */
const FORMER_CARD_MS = SERVICE_CENTRE_KEEPS_MS;

/**
 * For rows of `fact`: the subscription that its text may belong to, which is that of a former card for texts of before, else that of the
 * number of the card; and as `holding` and `stamp` what decides. A former card is free: any node can claim it, and date its texts back. So
 * only a node that held it before it was a former card reports texts of that time, and none that are later than it held the card then.
 */
export const holderOfFact = (now: Date) => sql`
  left join former_cards as former on former.iccid = fact.iccid
    and coalesce(fact.sent_at, fact.read_at) <= former.until + ${ms(CLOCK_ERROR_MAX_MS)}
    and former.until > ${now}::timestamptz - ${ms(FORMER_CARD_MS)}
    and exists (select from sim_tenures where sim_tenures.iccid = fact.iccid
      and sim_tenures.node_id = split_part(fact.fact_key, '/', 1) and sim_tenures.since <= former.until
      and (sim_tenures.until is null
        or greatest(fact.sent_at, fact.read_at) <= sim_tenures.until + ${ms(TENURE_SLACK_MS)}))
  left join numbers on numbers.iccid = fact.iccid
  join subscriptions on subscriptions.id = coalesce(former.subscription_id,
    (select own.id from subscriptions as own where own.number = numbers.number))
  ${holdingOfFact(now)}`;

/**
 * For rows of `fact`, `numbers` and `subscriptions`: the holding, and the stamp of the service center if it is plausible. A holding that
 * begins in the future was recorded by a clock that was ahead: then only its predecessor bounds it.
 */
const holdingOfFact = (now: Date) => sql`
  cross join lateral (select ${freedAt} as freed_at, case when subscriptions.created_at > ${now}::timestamptz
    then '-infinity'::timestamptz else subscriptions.created_at - ${ms(CLOCK_ERROR_MAX_MS)} end as begins_at) as holding
  cross join lateral (select case when holding.freed_at is null and fact.sent_at < fact.read_at - ${ms(STAMP_AGE_MAX_MS)}
    then null else fact.sent_at end as sent_at) as stamp`;

/**
 * Whether a text belongs to the holding. With a stamp: the service center received it in that time, and certainly not in the previous
 * holding. Without: it arrived in that time, and long enough after the previous holding that no service center can have kept it.
 */
export const isOfHolding = sql<boolean>`coalesce(case when former.iccid is not null
  then coalesce(fact.sent_at, fact.read_at) >= subscriptions.created_at - ${ms(CLOCK_ERROR_MAX_MS)}
    and not exists (select from former_holdings as earlier
      where (earlier.iccid = former.iccid or earlier.number = former.number) and earlier.held_until < former.until
        and earlier.held_until >= coalesce(fact.sent_at, fact.read_at) - ${ms(CLOCK_ERROR_MAX_MS)})
  when stamp.sent_at is not null
  then stamp.sent_at >= holding.begins_at
    and (holding.freed_at is null or stamp.sent_at > holding.freed_at + ${ms(CLOCK_ERROR_MAX_MS)})
  else fact.read_at >= holding.begins_at
    and (holding.freed_at is null or fact.arrived_after > holding.freed_at + ${ms(SERVICE_CENTRE_KEEPS_MS)})
  end, false)`;

/** Whether it is unknown in which holding a text was sent. */
export const isUndated = sql<boolean>`coalesce(stamp.sent_at is null or stamp.sent_at between
  holding.freed_at - ${ms(CLOCK_ERROR_MAX_MS)} and holding.freed_at + ${ms(CLOCK_ERROR_MAX_MS)}, false)`;

/** Whether a call began in the holding of a joined row of `subscriptions`. */
const isCallOfHolding = (startedAt: Date) => sql<boolean>`
  subscriptions.created_at <= ${startedAt}::timestamptz + ${ms(CLOCK_ERROR_MAX_MS)}
  and coalesce(${freedAt} + ${ms(CLOCK_ERROR_MAX_MS)} < ${startedAt}::timestamptz, true)`;

/** Records which card and number a subscriber had until now. Texts of before that a node delivers later are still the subscriber's. */
export async function keepFormerCard(
  trx: DatabaseTransaction,
  { number, now }: { number: string; now: Date },
): Promise<void> {
  await sql`
    insert into former_cards (iccid, subscription_id, number, until)
    select numbers.iccid, subscriptions.id, subscriptions.number, ${now}::timestamptz
    from numbers join subscriptions on subscriptions.number = numbers.number where numbers.number = ${number}
    on conflict (iccid) do update set subscription_id = excluded.subscription_id, number = excluded.number,
      until = excluded.until`.execute(trx);
}

/**
 * Records that a number has no holder from now on. Every deletion of a subscription calls it, in the same transaction. There is one row per
 * number and SIM. It identifies no holder, so it never has to be purged.
 */
export async function endHolding(
  trx: DatabaseTransaction,
  { number, from, now }: { number: string; from: Date; now: Date },
): Promise<void> {
  await sql`insert into former_holdings (number, iccid, held_from, held_until)
    select number, iccid, ${from}::timestamptz, ${now}::timestamptz from numbers where number = ${number}
    on conflict (number, iccid) do update
    set held_from = excluded.held_from, held_until = excluded.held_until`.execute(trx);
}

/** Corrects holdings that a fast clock ended in the future: they ended now at the latest. */
export async function endByNow(db: Database, now: Date): Promise<void> {
  await sql`update former_holdings set held_until = ${now}::timestamptz
    where held_until > ${now}::timestamptz`.execute(db);
}

/** The number of a SIM and its subscription. A call that began before the subscription is not its call. */
export async function holderOfSim(
  db: Database | DatabaseTransaction,
  iccid: string,
  startedAt: Date,
): Promise<{ number: string | null; subscriptionId: string | null }> {
  const row = await db
    .selectFrom('numbers')
    .leftJoin('subscriptions', (join) =>
      join.onRef('subscriptions.number', '=', 'numbers.number').on(isCallOfHolding(startedAt)),
    )
    .select(['numbers.number', 'subscriptions.id as subscriptionId'])
    .where('numbers.iccid', '=', iccid)
    .where('numbers.retired_at', 'is', null)
    .executeTakeFirst();
  return row ?? { number: null, subscriptionId: null };
}
