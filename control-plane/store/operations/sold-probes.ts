// Probes of sold numbers: which are due, what the spare SIMs that send them have sent, and what the results say of each number.
import { sql } from 'kysely';
import { SENDING_DAY_MS, type SendingUsage } from '../../domain/sending-limits.ts';
import type { Database } from '../database/database.ts';
import { LAST_RECEIVED_STEP } from '../fleet/last-received.ts';
import { SERVICE_ROWS } from '../fleet/sold-numbers.ts';
import type { ProbeSim } from './probe-pairs.ts';
import { partnerOf, TRIALS_COUNTED } from './probe-trials.ts';

/** A sold number that may be probed. */
export interface SoldSim extends ProbeSim {
  /** The partners of the last probes, newest first, if all of these failed. */
  failedWith: string[];
}

const MINUTE_MS = 60_000;

/** More than are sent in a round: some may have no sender now. */
const DUE_MAX = 64;

/** Paid numbers on the network in the slot that their node has confirmed, without a call now. */
const REACHABLE = (now: Date) => sql`
  select numbers.number, sims.iccid, sims.node_id as node, sims.slot, sims.operator as carrier, subscriptions.id as subscription,
    (select max(started_at) from probes where to_iccid = sims.iccid and to_subscriber) as probed_at
  from subscriptions
  join ${SERVICE_ROWS(now)} as service on service.subscription_id = subscriptions.id
    and service.state in ('registered', 'unreached')
  join numbers on numbers.number = subscriptions.number and numbers.retired_at is null
  join sims on sims.iccid = numbers.iccid
  where subscriptions.expires_at > ${now}::timestamptz
    and not exists (select from calls where calls.iccid = sims.iccid and calls.state <> 'ended')`;

/**
 * Sold numbers that neither a probe nor another text has reached since `dueBefore`, those that wait longest first; and how many sold numbers
 * there are that probes can reach.
 */
export async function findDueSold(
  db: Database,
  { dueBefore, now }: { dueBefore: Date; now: Date },
): Promise<{ due: SoldSim[]; sold: number }> {
  const { rows } = await sql<ProbeSim & { sold: number }>`
    with sold as materialized (${REACHABLE(now)})
    select number, iccid, node, slot, carrier, (select count(*)::int from sold) as sold from sold
    where (probed_at is null or probed_at <= ${dueBefore}::timestamptz) and not exists (
      select from last_received where subscription_id = sold.subscription and at > ${dueBefore}::timestamptz)
    order by probed_at nulls first, iccid limit ${DUE_MAX}`.execute(db);
  const due = await Promise.all(
    rows.map(async ({ sold: _, ...sim }) => ({ ...sim, failedWith: await failuresOf(db, sim) })),
  );
  return { due, sold: rows[0]?.sold ?? 0 };
}

/** Whether the number may still be probed. */
export async function isStillDue(
  db: Database,
  { iccid, node, slot }: ProbeSim,
  { dueBefore, now }: { dueBefore: Date; now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    select from (${REACHABLE(now)}) as sold where iccid = ${iccid} and node = ${node} and slot = ${slot}
      and (probed_at is null or probed_at <= ${dueBefore}::timestamptz)`.execute(db);
  return rows.length > 0;
}

/** When the last probe of a sold number began. */
export async function lastToSubscriber(db: Database): Promise<Date | undefined> {
  const row = await db
    .selectFrom('probes')
    .select(({ fn }) => fn.max('started_at').as('at'))
    .where('to_subscriber', '=', true)
    .executeTakeFirst();
  return row?.at ?? undefined;
}

/** The texts that SIMs sent and received in the last minute and 24 hours, all of them probes: the SIMs are spare. */
export async function readProbeUsage(
  db: Database,
  iccids: readonly string[],
  now: Date,
): Promise<Map<string, SendingUsage>> {
  const since = (ms: number) => sql`${new Date(now.getTime() - ms)}::timestamptz`;
  const { rows } = await sql<SendingUsage & { iccid: string }>`
    with texts as materialized (
      select from_iccid, to_iccid, to_number, started_at, result from probes
      where kind = 'sms' and started_at > ${since(SENDING_DAY_MS)}
    ), sent as (
      select from_iccid as iccid, count(*)::int as day, count(distinct to_number)::int as recipients,
        count(*) filter (where started_at > ${since(MINUTE_MS)})::int as minute
      from texts group by from_iccid
    ), received as (
      select to_iccid as iccid, count(*)::int as received from texts where result = 'delivered' group by to_iccid
    )
    select iccid, coalesce(minute, 0) as minute, coalesce(day, 0) as day, coalesce(recipients, 0) as recipients,
      0 as repeated, coalesce(received, 0) as received
    from unnest(${iccids}::text[]) as spare (iccid) left join sent using (iccid) left join received using (iccid)`.execute(
    db,
  );
  return new Map(rows.map(({ iccid, ...usage }) => [iccid, usage]));
}

interface SoldTrial {
  hasArrived: boolean;
  node: string;
  slot: string;
}

/**
 * The last probes of a sold SIM in its present slot since its number last received a text, newest first: not those of the minute in which
 * another text is not recorded. A text that the sender could not send is none.
 */
async function trialsOf(
  db: Database,
  { iccid, node, slot }: Pick<ProbeSim, 'iccid' | 'node' | 'slot'>,
  { isLocking = false }: { isLocking?: boolean } = {},
): Promise<SoldTrial[]> {
  const { rows } = await sql<SoldTrial>`
    select arrived_at is not null as "hasArrived", from_node as node, from_slot as slot from probes
    where to_iccid = ${iccid} and to_node = ${node} and to_slot = ${slot} and to_subscriber
      and started_at > coalesce((select at + ${LAST_RECEIVED_STEP} from numbers
        join subscriptions on subscriptions.number = numbers.number
        join last_received on last_received.subscription_id = subscriptions.id
        where numbers.iccid = ${iccid} and numbers.retired_at is null), '-infinity')
      and (arrived_at is not null or result = 'failed' and failed_end in ('recipient', 'either'))
    order by started_at desc limit ${TRIALS_COUNTED} ${isLocking ? sql`for update` : sql``}`.execute(db);
  return rows;
}

const failuresIn = (own: Pick<ProbeSim, 'node' | 'slot'>, trials: readonly SoldTrial[]): string[] =>
  trials.some(({ hasArrived }) => hasArrived) ? [] : trials.map((trial) => partnerOf(own, trial));

async function failuresOf(db: Database, sim: ProbeSim): Promise<string[]> {
  const [newest] = await trialsOf(db, sim);
  return newest === undefined ? [] : failuresIn(sim, [newest]);
}

/**
 * Records whether texts reach a sold SIM, after one of its probes has ended. They do not if the last two were lost, with two partners, if
 * the SIM had two: then the partner is not the cause. Returns whether that is new.
 */
export async function judgeSold(
  db: Database,
  sim: Pick<ProbeSim, 'iccid' | 'node' | 'slot'>,
  { partners, now }: { partners: number; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // A text that arrives at this moment waits, and then deletes the row.
    const failures = failuresIn(sim, await trialsOf(trx, sim, { isLocking: true }));
    const witnesses = new Set(failures).size;
    if (failures.length < TRIALS_COUNTED || witnesses < Math.min(partners, TRIALS_COUNTED)) return false;
    const { numAffectedRows = 0n } = await sql`
      insert into unreached_sims (iccid, node_id, slot, since)
      values (${sim.iccid}, ${sim.node}, ${sim.slot}, ${now}::timestamptz)
      on conflict (iccid) do update set node_id = excluded.node_id, slot = excluded.slot, since = excluded.since
      where (unreached_sims.node_id, unreached_sims.slot) is distinct from (excluded.node_id, excluded.slot)`.execute(
      trx,
    );
    return numAffectedRows > 0n;
  });
}

/**
 * Forgets SIMs that have received a text since, or are no longer sold; without probes of sold numbers (`isOff`), all of them. A text of the
 * minute before counts, too: its transaction was not over when the SIM was judged.
 */
export async function forgetReached(db: Database, { isOff }: { isOff: boolean }): Promise<void> {
  await sql`
    delete from unreached_sims where ${isOff}::boolean or not exists (
      select from numbers join subscriptions on subscriptions.number = numbers.number
      where numbers.iccid = unreached_sims.iccid and numbers.retired_at is null
        and not exists (select from last_received where last_received.subscription_id = subscriptions.id
          and last_received.at > unreached_sims.since - ${LAST_RECEIVED_STEP}))`.execute(db);
}
