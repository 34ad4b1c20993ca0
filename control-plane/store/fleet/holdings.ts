// Who had a number when: of former holders the last, of the present one the subscription. A text belongs to the holder at the
// time at which the service centre had it (3GPP TS 23.040 §9.2.3.11); where that time is not known, to nobody.
import { type RawBuilder, sql } from 'kysely';
import type { Database, DatabaseTransaction } from '../database/database.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Clocks that are right are off by less, ours and those of service centres, which write whole seconds. */
export const CLOCK_ERROR_MAX_MS = 10_000;

/** A node's clock that is off by more is corrected. */
const NODE_CLOCK_ERROR_MAX_MS = 60_000;

/** By so much a stamp may be later than the time at which a node read the text, where all clocks are right. */
export const STAMP_LEAD_MAX_MS = NODE_CLOCK_ERROR_MAX_MS + CLOCK_ERROR_MAX_MS;

/** Stamps of service centres that write a wrong zone are off by less. */
export const ZONE_ERROR_MAX_MS = DAY_MS;

/** A sweep that begins so long after the last holder, by the node's clock, came after their last text, by any clock. */
export const SWEEP_AFTER_MS = NODE_CLOCK_ERROR_MAX_MS + 3 * CLOCK_ERROR_MAX_MS;

/** US carriers give up a text that they cannot deliver after three days, some after seven. */
export const SERVICE_CENTRE_KEEPS_MS = 7 * DAY_MS;

/** Beyond the longest validity period but for some weeks (63, 3GPP TS 23.040 §9.2.3.12.1): such a stamp is of a wrong clock. */
const STAMP_AGE_MAX_MS = 365 * DAY_MS;

const ms = (count: number): RawBuilder<unknown> => sql.raw(`interval '${count} milliseconds'`);

/** When the last former holder of a row of `numbers`, or of its SIM, ceased to have it; null where there was none. */
const freedAt = sql<Date | null>`greatest(
  (select max(held_until) from former_holdings where former_holdings.iccid = numbers.iccid),
  (select max(held_until) from former_holdings where former_holdings.number = numbers.number))`;

/**
 * Whether the SIM was swept since the last holder of the number and its quarantine; at all, where nobody had it. Of joined rows of
 * `numbers` and `sims`.
 */
export const isSwept = sql<boolean>`coalesce(sims.swept_at >= greatest(
  ${freedAt} + ${ms(SWEEP_AFTER_MS)}, numbers.quarantined_until, '-infinity'::timestamptz), false)`;

/**
 * For rows of `fact`, `numbers` and `subscriptions`: the holding, and the stamp of the service centre as far as it can be right.
 * A holding that begins in the future began by a clock that was ahead: then only its predecessor bounds it.
 */
export const holdingOfFact = (now: Date) => sql`
  cross join lateral (select ${freedAt} as freed_at, case when subscriptions.created_at > ${now}::timestamptz
    then '-infinity'::timestamptz else subscriptions.created_at - ${ms(CLOCK_ERROR_MAX_MS)} end as begins_at) as holding
  cross join lateral (select case when holding.freed_at is null and fact.sent_at < fact.read_at - ${ms(STAMP_AGE_MAX_MS)}
    then null else fact.sent_at end as sent_at) as stamp`;

/**
 * Whether a text is of the holding. With a stamp: the service centre had it in that time, and surely not in the one before.
 * Without: it came in that time, and so long after the one before that no service centre can have kept it.
 */
export const isOfHolding = sql<boolean>`coalesce(case when stamp.sent_at is not null
  then stamp.sent_at >= holding.begins_at
    and (holding.freed_at is null or stamp.sent_at > holding.freed_at + ${ms(CLOCK_ERROR_MAX_MS)})
  else fact.read_at >= holding.begins_at
    and (holding.freed_at is null or fact.arrived_after > holding.freed_at + ${ms(SERVICE_CENTRE_KEEPS_MS)})
  end, false)`;

/** Whether nobody can say in whose time a text was sent. */
export const isUndated = sql<boolean>`coalesce(stamp.sent_at is null or stamp.sent_at between
  holding.freed_at - ${ms(CLOCK_ERROR_MAX_MS)} and holding.freed_at + ${ms(CLOCK_ERROR_MAX_MS)}, false)`;

/** Whether a call began in the holding of a joined row of `subscriptions`. */
export const isCallOfHolding = (startedAt: Date) => sql<boolean>`
  subscriptions.created_at <= ${startedAt}::timestamptz + ${ms(CLOCK_ERROR_MAX_MS)}
  and coalesce(${freedAt} + ${ms(CLOCK_ERROR_MAX_MS)} < ${startedAt}::timestamptz, true)`;

/**
 * Notes that a number has no holder from now on. Called by whatever deletes a subscription, in its transaction. One row a number
 * and SIM, and nothing of the holder: nothing of it has to be purged.
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

/** A holding that ended in the future ended by a clock that was ahead, and now at the latest. */
export async function endByNow(db: Database, now: Date): Promise<void> {
  await sql`update former_holdings set held_until = ${now}::timestamptz
    where held_until > ${now}::timestamptz`.execute(db);
}
