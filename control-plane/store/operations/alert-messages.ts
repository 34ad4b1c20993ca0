// What is told of alerts, on each channel by itself: messages one after the other, each claimed by one instance at a time.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { AlertChannelName, AlertMessage, AlertRow } from '../../domain/alert.ts';
import type { Database } from '../database/database.ts';

const COMPOSE_LOCK = 7_402_003;
const ID_BYTES = 12;

/** What is more than this comes in the next message. */
const ALERTS_A_MESSAGE = 200;

/** One attempt to tell a message. */
export interface AlertAttempt {
  id: string;
  channel: AlertChannelName;
  createdAt: Date;
  /** From 1. */
  attempt: number;
}

/**
 * Makes one message of all that was not told on the channel, unless one is under way or there is nothing. What is over
 * before it could be told is never told; what is over is told where its beginning, or that it became critical, was. That it
 * became critical is told once, and only where it was told as a warning.
 */
export async function composeMessage(db: Database, channel: AlertChannelName, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // By itself: the next statement sees what others composed until now.
    await sql`select pg_advisory_xact_lock(${COMPOSE_LOCK})`.execute(trx);
    await sql`
      with news as (
        select id, 'raised' as change, severity, summary, advice from alerts
        where raised_at is not null and recovered_at is null and not exists (
          select from alert_tidings where alert_id = alerts.id and change = 'raised' and channel = ${channel})
        union all
        select id, 'escalated', severity, summary, advice from alerts
        where recovered_at is null and severity = 'critical' and exists (
          select from alert_tidings
          where alert_id = alerts.id and change = 'raised' and channel = ${channel} and severity = 'warning')
        and not exists (
          select from alert_tidings where alert_id = alerts.id and change = 'escalated' and channel = ${channel})
        union all
        select id, 'recovered', severity, summary, advice from alerts
        where recovered_at is not null and exists (
          select from alert_tidings as told join alert_messages on alert_messages.id = message_id and state = 'sent'
          where alert_id = alerts.id and change <> 'recovered' and told.channel = ${channel})
        and not exists (
          select from alert_tidings where alert_id = alerts.id and change = 'recovered' and channel = ${channel})
        order by id limit ${ALERTS_A_MESSAGE}
      ), message as (
        insert into alert_messages (id, channel, state, created_at)
        select ${`msg_${randomBytes(ID_BYTES).toString('hex')}`}, ${channel}, 'open', ${now}::timestamptz
        where exists (select from news)
          and not exists (select from alert_messages where channel = ${channel} and state = 'open')
        returning id
      )
      insert into alert_tidings (alert_id, change, channel, message_id, severity, summary, advice)
      select news.id, change, ${channel}, message.id, severity, summary, advice
      from news cross join message`.execute(trx);
  });
}

/** Takes the message of the channel that is due, for `leaseMs`. */
export async function claimMessage(
  db: Database,
  channel: AlertChannelName,
  { now, leaseMs }: { now: Date; leaseMs: number },
): Promise<AlertAttempt | undefined> {
  const row = await db
    .updateTable('alert_messages')
    .set((eb) => ({
      attempts: eb('attempts', '+', 1),
      claimed_until: new Date(now.getTime() + leaseMs),
      retry_at: null,
    }))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('alert_messages')
        .select('id')
        .where('channel', '=', channel)
        .where('state', '=', 'open')
        .where(({ or, eb: is }) => or([is('claimed_until', 'is', null), is('claimed_until', '<=', now)]))
        .where(({ or, eb: is }) => or([is('retry_at', 'is', null), is('retry_at', '<=', now)]))
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'channel', 'created_at as createdAt', 'attempts as attempt'])
    .executeTakeFirst();
  return row;
}

/** What the message tells: the same whenever it is asked. */
export async function readMessage(db: Database, { id, createdAt }: AlertAttempt): Promise<AlertMessage> {
  const rows = await db
    .selectFrom('alert_tidings')
    .innerJoin('alerts', 'alerts.id', 'alert_tidings.alert_id')
    .select(['alerts.id', 'kind', 'subject', 'recovered_at', 'change'])
    .select(['alert_tidings.severity', 'alert_tidings.summary', 'alert_tidings.advice'])
    .select((eb) => eb.ref('raised_at').$castTo<Date>().as('raised_at'))
    .where('message_id', '=', id)
    .orderBy('raised_at')
    .orderBy('kind')
    .orderBy('subject')
    .execute();
  const of = (wanted: (typeof rows)[number]['change']): AlertRow[] =>
    rows
      .filter(({ change }) => change === wanted)
      // What is over meanwhile is told by a message of its own.
      .map(({ change, ...row }) => (change === 'recovered' ? row : { ...row, recovered_at: null }));
  return { id, createdAt, raised: of('raised'), escalated: of('escalated'), recovered: of('recovered') };
}

/** The message was taken, or nothing more is tried; also when the claim was over. */
export async function endMessage(db: Database, id: string, state: 'sent' | 'given_up'): Promise<void> {
  await db
    .updateTable('alert_messages')
    .set({ state, claimed_until: null })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .execute();
}

/** Unless somebody else has claimed it since. */
export async function retryMessage(
  db: Database,
  { id, attempt }: AlertAttempt,
  retryAt: Date,
): Promise<void> {
  await db
    .updateTable('alert_messages')
    .set({ retry_at: retryAt, claimed_until: null })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .where('attempts', '=', attempt)
    .execute();
}
