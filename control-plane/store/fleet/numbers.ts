// Numbers as operators see and change them: out of service, retired, imported from a list.
import { sql } from 'kysely';
import * as z from 'zod';
import { timeOutput } from '#shared/json-codec.ts';
import { shownTime } from '#shared/operator/listing.ts';
import { SERVICE_STATES, SLOT_STATUS } from '#shared/operator/slot-health.ts';
import { NUMBER_STATES, type NumberState } from '../../domain/number-state.ts';
import { OperatorRefusal } from '../../domain/refusal.ts';
import { maskedWallet } from '../../domain/shown-value.ts';
import { type Database, type DatabaseTransaction, inTransaction } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import {
  allOf,
  contains,
  naturalOrder,
  readPage,
  type Sort,
  sortedPage,
  textOrder,
} from '../database/sorted-page.ts';
import { isAvailable, lockReservations } from './number-pool.ts';
import { HAS_NO_JOURNAL } from './slots.ts';
import { SERVICE_ROWS } from './sold-numbers.ts';

export const numberRowSchema = z.object({
  number: z.string(),
  state: z.enum(NUMBER_STATES),
  iccid: z.string(),
  /** The operator's name for the card. */
  label: z.string().nullable(),
  /** IMEI of the modem that has its SIM. */
  imei: z.string().nullable(),
  /** Where its SIM is; null when no node holds it. */
  node: z.string().nullable(),
  slot: z.string().nullable(),
  /** The network of its SIM, or the last one, as its modem reports it. */
  carrier: z.string().nullable(),
  /** The subscriber's wallet, and until when it has paid. */
  wallet: z.string().nullable(),
  expires_at: timeOutput.nullable(),
  /** Not sold before. */
  quarantined_until: timeOutput.nullable(),
  /** Service of a sold number, while its subscription lasts. */
  service: z.enum(SERVICE_STATES).nullable(),
  /** Why it has no service, as the node reports it. */
  service_reason: z.string().nullable(),
  /** Why the number or its slot is out of service, or why the number is not on sale yet. */
  reason: z.string().nullable(),
});
export type NumberRow = z.output<typeof numberRowSchema>;

/** Null if the quarantine is over, or never was. */
const quarantineEnd = (now: Date) =>
  sql<Date | null>`case when seen.quarantined_until > ${now}::timestamptz then seen.quarantined_until end`;

/** Null if no other SIM reports the number. */
const RIVALS = sql`(
  select 'disputed: also reported by ' || string_agg('SIM ' || number_rivals.iccid
    || coalesce(' in ' || held.node_id || '/' || held.slot, ''), ', ' order by number_rivals.iccid)
  from number_rivals left join sims as held on held.iccid = number_rivals.iccid
  where number_rivals.number = seen.number)`;

/** Reason for a number that would be on sale if its node could write its journal. */
const journalReason = (now: Date) =>
  sql`case when subscriptions.id is null and sims.state = 'registered' and ${HAS_NO_JOURNAL}
    and nodes.link_alive_until > ${now}::timestamptz then ${SLOT_STATUS.journal_unavailable.words}::text end`;

/** The service of a sold number, to sort by. It costs several joins. */
const serviceOrder = (now: Date) => sql<
  string | null
>`case when subscriptions.expires_at <= ${now}::timestamptz then 'expired'
  else (select service.state from ${SERVICE_ROWS(now)} as service where service.subscription_id = subscriptions.id) end`;

/** Every number with its state and subscriber. */
const listed = (db: Database, now: Date, { hasService = false } = {}) =>
  db
    .with('seen', (seen) =>
      seen
        .selectFrom('numbers')
        .selectAll()
        .select((eb) => [
          isAvailable(eb, now).as('is_available'),
          isAvailable(eb, now, { evenUnswept: true }).as('is_available_once_swept'),
        ]),
    )
    .with('listed', (listed) =>
      listed
        .selectFrom('seen')
        .leftJoin('subscriptions', 'subscriptions.number', 'seen.number')
        .leftJoin('payments', 'payments.reserved_number', 'seen.number')
        .leftJoin('sims', 'sims.iccid', 'seen.iccid')
        .leftJoin('nodes', 'nodes.id', 'sims.node_id')
        .leftJoin('cards', 'cards.iccid', 'seen.iccid')
        .leftJoin('slot_service', (join) =>
          join
            .onRef('slot_service.node_id', '=', 'sims.node_id')
            .onRef('slot_service.slot', '=', 'sims.slot')
            .on('slot_service.out_of_service_at', 'is not', null),
        )
        .select((eb) => [
          'seen.number',
          'seen.iccid',
          'cards.label',
          'sims.node_id as node',
          'sims.slot',
          'sims.operator as carrier',
          'sims.device_id as imei',
          'subscriptions.wallet',
          'subscriptions.expires_at',
          (hasService ? serviceOrder(now) : sql<string | null>`null`).as('service'),
          quarantineEnd(now).as('quarantined_until'),
          sql<string | null>`coalesce(seen.out_of_service_reason, 'slot: ' || slot_service.reason,
            'waits for ' || seen.first_node, ${RIVALS}, ${journalReason(now)})`.as('reason'),
          eb
            .case()
            .when('seen.retired_at', 'is not', null)
            .then<NumberState>('retired')
            .when('seen.out_of_service_at', 'is not', null)
            .then<NumberState>('out_of_service')
            .when('subscriptions.id', 'is not', null)
            .then<NumberState>('held')
            .when('payments.id', 'is not', null)
            .then<NumberState>('reserved')
            .when(quarantineEnd(now), 'is not', null)
            .then<NumberState>('quarantined')
            .when('slot_service.slot', 'is not', null)
            .then<NumberState>('out_of_service')
            .when('seen.unadmitted_since', 'is not', null)
            .then<NumberState>('unadmitted')
            .when('seen.is_available', '=', true)
            .then<NumberState>('available')
            .when('seen.is_available_once_swept', '=', true)
            .then<NumberState>('unswept')
            .else<NumberState>('offline')
            .end()
            .as('state'),
        ]),
    );

/** The columns that numbers can be sorted by. */
export const NUMBER_SORTS = {
  number: sql`listed.number`,
  state: textOrder('state'),
  service: textOrder('service'),
  iccid: textOrder('iccid'),
  label: textOrder('label'),
  node: textOrder('node'),
  slot: sql`coalesce(${naturalOrder('listed.slot')}, '')`,
  carrier: textOrder('carrier'),
  wallet: textOrder('wallet'),
  until: sql`coalesce(listed.expires_at, listed.quarantined_until, '-infinity'::timestamptz)`,
  reason: textOrder('reason'),
};

interface NumberQuery {
  state?: NumberState | undefined;
  /** Only this number. */
  number?: string | undefined;
  /** Where its SIM is. */
  node?: string | undefined;
  /** As modems report them. */
  carriers?: readonly string[] | undefined;
  /** Part of a number, ICCID, label, IMEI, wallet, node or slot. */
  find?: string | undefined;
  sort?: Sort<keyof typeof NUMBER_SORTS> | undefined;
  /** The last number of the previous page. */
  after?: string | undefined;
  limit: number;
}

/** Sorted by number unless `sort` is given; one more than `limit` when there are more. */
export async function listNumbers(db: Database, query: NumberQuery, now: Date): Promise<NumberRow[]> {
  const { state, number, node, carriers, find, sort, after, limit } = query;
  const page = sortedPage({
    key: ['number'],
    sorts: NUMBER_SORTS,
    sort,
    after: after === undefined ? undefined : [after],
  });
  const found = await readPage(page, (where) =>
    listed(db, now, { hasService: sort?.by === 'service' })
      .selectFrom('listed')
      .selectAll()
      .where(where)
      .where(
        allOf([
          state === undefined ? undefined : sql<boolean>`listed.state = ${state}`,
          number === undefined ? undefined : sql<boolean>`listed.number = ${number}`,
          node === undefined ? undefined : sql<boolean>`listed.node = ${node}`,
          carriers === undefined ? undefined : sql<boolean>`listed.carrier = ${anyOf(carriers)}`,
          find === undefined
            ? undefined
            : contains(['number', 'iccid', 'label', 'imei', 'wallet', 'node', 'slot'], find),
        ]),
      )
      .orderBy(page.order)
      .limit(limit + 1)
      .execute(),
  );
  // Only of the rows of the page.
  const sold = found.filter(({ expires_at: end }) => end !== null && end > now);
  const service = await serviceOf(db, sold, now);
  return found.map((row) => ({ ...row, service: null, service_reason: null, ...service.get(row.number) }));
}

async function serviceOf(
  db: Database,
  sold: readonly { number: string }[],
  now: Date,
): Promise<Map<string, Pick<NumberRow, 'service' | 'service_reason'>>> {
  if (sold.length === 0) return new Map();
  const rows = await db
    .selectFrom('subscriptions')
    .innerJoin(SERVICE_ROWS(now).as('service'), 'service.subscription_id', 'subscriptions.id')
    .select(['subscriptions.number', 'service.state', 'service.reason'])
    .where('subscriptions.number', '=', anyOf(sold.map(({ number }) => number)))
    .execute();
  return new Map(
    rows.map(({ number, state, reason }) => [number, { service: state, service_reason: reason }]),
  );
}

export async function countNumbers(db: Database, now: Date): Promise<Map<NumberState, number>> {
  const rows = await listed(db, now)
    .selectFrom('listed')
    .select(['state', sql<number>`count(*)::int`.as('count')])
    .groupBy('state')
    .execute();
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Takes a number off the market for `reason`; without a reason, puts it back. Throws `OperatorRefusal`. */
export async function setOutOfService(
  db: Database,
  number: string,
  reason: string | undefined,
  now: Date,
): Promise<void> {
  const isOut = reason !== undefined;
  const row = await db
    .updateTable('numbers')
    .set({ out_of_service_at: isOut ? now : null, out_of_service_reason: reason ?? null })
    .where('number', '=', number)
    .where('retired_at', 'is', null)
    .returning('number')
    .executeTakeFirst();
  if (row === undefined) throw await unknownOrRetired(db, number);
}

/** Ends the quarantine of a number. Throws `OperatorRefusal` if it is in none. */
export async function releaseNumber(db: Database, number: string, now: Date): Promise<void> {
  const row = await db
    .updateTable('numbers')
    .set({ quarantined_until: null })
    .where('number', '=', number)
    .where('retired_at', 'is', null)
    .where('quarantined_until', '>', now)
    .returning('number')
    .executeTakeFirst();
  if (row !== undefined) return;
  if (await isNumberKnown(db, number)) throw new OperatorRefusal(`${number} is not in quarantine.`);
  throw await unknownOrRetired(db, number);
}

/** Retires a number that has no subscriber and no reservation. Throws `OperatorRefusal`. */
export async function retireNumber(db: Database, number: string, now: Date): Promise<void> {
  await inTransaction(db, async (trx) => {
    await lockReservations(trx);
    const row = await trx
      .selectFrom('numbers')
      .leftJoin('subscriptions', 'subscriptions.number', 'numbers.number')
      .leftJoin('payments', 'payments.reserved_number', 'numbers.number')
      .select(['subscriptions.wallet', 'subscriptions.expires_at as until', 'payments.id as payment'])
      .where('numbers.number', '=', number)
      .where('retired_at', 'is', null)
      .executeTakeFirst();
    if (row === undefined) throw await unknownOrRetired(trx, number);
    if (row.wallet !== null && row.until !== null) {
      const whose = `${number} is held by ${maskedWallet(row.wallet)}`;
      const until = shownTime(row.until.toISOString());
      throw new OperatorRefusal(
        row.until > now
          ? `${whose} until ${until}.`
          : `${whose} for the grace time after its year, which ended at ${until}.`,
      );
    }
    if (row.payment !== null) throw new OperatorRefusal(`${number} is reserved for payment ${row.payment}.`);
    await trx
      .updateTable('numbers')
      .set({ retired_at: now, out_of_service_at: null, out_of_service_reason: null })
      .where('number', '=', number)
      .execute();
  });
}

async function unknownOrRetired(
  db: Database | DatabaseTransaction,
  number: string,
): Promise<OperatorRefusal> {
  const row = await db
    .selectFrom('numbers')
    .select('retired_at')
    .where('number', '=', number)
    .executeTakeFirst();
  if (row?.retired_at == null) return new OperatorRefusal(`There is no number ${number}.`);
  return new OperatorRefusal(`${number} was retired at ${shownTime(row.retired_at.toISOString())}.`);
}

/** Whether the service has this number, sold or not. */
export async function isNumberKnown(db: Database, number: string): Promise<boolean> {
  const row = await db
    .selectFrom('numbers')
    .select('number')
    .where('number', '=', number)
    .where('retired_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
