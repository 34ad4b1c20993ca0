// Alerts: open ones, and ended ones for a while.
import { type Selectable, sql } from 'kysely';
import type { ListedAlert, OpenAlert } from '../../domain/alert.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import type { AlertsTable } from '../database/operation-tables.ts';

/** Any constant that no other lock uses. */
const ALERTS_LOCK = 7_402_002;

/** Ended alerts are kept for this long. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Returns the open alerts, and locks them: no other instance changes one until the transaction ends. */
export async function lockOpenAlerts(trx: DatabaseTransaction): Promise<OpenAlert[]> {
  await sql`select pg_advisory_xact_lock(${ALERTS_LOCK})`.execute(trx);
  const rows = await trx.selectFrom('alerts').selectAll().where('recovered_at', 'is', null).execute();
  return rows.map(fromRow);
}

const fromRow = (row: Selectable<AlertsTable>): OpenAlert => ({
  id: row.id,
  kind: row.kind,
  subject: row.subject,
  severity: row.severity,
  summary: row.summary,
  advice: row.advice,
  reading: row.reading,
  since: row.since,
  seenAt: row.seen_at,
  raisedAt: row.raised_at,
  cause: row.cause,
  worseSince: row.worse_since,
  wellSince: row.well_since,
  recoveredAt: row.recovered_at,
});

/** Limit of one statement: each row binds 14 values, and Postgres takes 65,535. */
const ALERTS_A_STATEMENT = 1_000;

/** Stores the present state of each. */
export async function saveAlerts(trx: DatabaseTransaction, alerts: readonly OpenAlert[]): Promise<void> {
  for (let first = 0; first < alerts.length; first += ALERTS_A_STATEMENT)
    await saveSome(trx, alerts.slice(first, first + ALERTS_A_STATEMENT));
}

async function saveSome(trx: DatabaseTransaction, alerts: readonly OpenAlert[]): Promise<void> {
  await trx
    .insertInto('alerts')
    .values(
      alerts.map((alert) => ({
        id: alert.id,
        kind: alert.kind,
        subject: alert.subject,
        severity: alert.severity,
        summary: alert.summary,
        advice: alert.advice,
        reading: alert.reading,
        since: alert.since,
        seen_at: alert.seenAt,
        raised_at: alert.raisedAt,
        cause: alert.cause,
        worse_since: alert.worseSince,
        well_since: alert.wellSince,
        recovered_at: alert.recoveredAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        severity: eb.ref('excluded.severity'),
        summary: eb.ref('excluded.summary'),
        advice: eb.ref('excluded.advice'),
        reading: eb.ref('excluded.reading'),
        since: eb.ref('excluded.since'),
        seen_at: eb.ref('excluded.seen_at'),
        raised_at: eb.ref('excluded.raised_at'),
        cause: eb.ref('excluded.cause'),
        worse_since: eb.ref('excluded.worse_since'),
        well_since: eb.ref('excluded.well_since'),
        recovered_at: eb.ref('excluded.recovered_at'),
      })),
    )
    .execute();
}

/** Deletes alerts that never counted, and those that ended long ago. */
export async function forgetAlerts(
  trx: DatabaseTransaction,
  ids: readonly string[],
  now: Date,
): Promise<void> {
  if (ids.length > 0) await trx.deleteFrom('alerts').where('id', '=', anyOf(ids)).execute();
  const before = new Date(now.getTime() - KEPT_MS);
  await trx.deleteFrom('alerts').where('recovered_at', '<', before).execute();
  await trx
    .deleteFrom('alert_messages')
    .where('created_at', '<', before)
    .where('state', '<>', 'open')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('alert_tidings')
            .select('alert_id')
            .whereRef('alert_tidings.message_id', '=', 'alert_messages.id'),
        ),
      ),
    )
    .execute();
}

const URGENCY = sql<number>`case when recovered_at is not null then 4 when well_since is not null then 3
  when severity <> 'critical' then 2 when kind = 'number_down' then 1 else 0 end`;

/** To the millisecond, as places have it. */
const NEWEST_FIRST = sql`-extract(epoch from date_trunc('milliseconds', raised_at))`;

/** The place of an alert in the list. It stays valid when the alert moves or goes. */
interface AlertPlace {
  urgency: number;
  raisedAt: Date;
  id: string;
}

interface AlertQuery {
  state?: 'open' | 'ended' | undefined;
  /** The last of the previous page. */
  after?: AlertPlace | undefined;
  limit: number;
}

/**
 * Critical ones first, then warnings, those that are over, and those that have ended; of each, the newest first. An outage may take the service
 * of many customers: other critical alerts, such as its cause, come before theirs. One more than `limit` when there are more.
 */
export function listAlerts(
  db: Database,
  { state, after, limit }: AlertQuery,
): Promise<(ListedAlert & { urgency: number })[]> {
  let query = db
    .selectFrom('alerts')
    .select(['id', 'kind', 'subject', 'severity', 'summary', 'advice', 'well_since', 'recovered_at'])
    .select((eb) => [eb.ref('raised_at').$castTo<Date>().as('raised_at'), URGENCY.as('urgency')])
    .where('raised_at', 'is not', null);
  if (state !== undefined) query = query.where('recovered_at', state === 'open' ? 'is' : 'is not', null);
  if (after !== undefined) {
    const { urgency, raisedAt, id } = after;
    query = query.where(
      sql<boolean>`(${URGENCY}, ${NEWEST_FIRST}, id) > (${urgency}::int, -extract(epoch from ${raisedAt}::timestamptz), ${id})`,
    );
  }
  return query
    .orderBy(URGENCY)
    .orderBy(NEWEST_FIRST)
    .orderBy('id')
    .limit(limit + 1)
    .execute();
}
