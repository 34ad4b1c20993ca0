// Messages about alerts, separately for each channel: one after the other, each leased by one instance at a time.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { AlertChannelName, AlertMessage, AlertRow } from '../../domain/alert.ts';
import type { Database } from '../database/database.ts';

const COMPOSE_LOCK = 7_402_003;
const ID_BYTES = 12;

/** Further alerts come in the next message. */
const ALERTS_A_MESSAGE = 200;

/** One attempt to send a message. */
export interface AlertAttempt {
  id: string;
  channel: AlertChannelName;
  createdAt: Date;
  /** From 1. */
  attempt: number;
}

/**
 * Composes one message of all unsent news for the channel, unless another message is open or there is no news. An alert that ended before
 * it was sent is never sent. Its end is sent only if its beginning or its escalation was. Its escalation to critical is sent once, and only
 * if it was sent as a warning before.
 */
export async function composeMessage(db: Database, channel: AlertChannelName, now: Date): Promise<void> {
  await db.transaction().execute(async (trx) => {
    // A statement of its own: the next one sees messages that others composed until now.
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
          select from alert_tidings as sent join alert_messages on alert_messages.id = message_id and state = 'sent'
          where alert_id = alerts.id and change <> 'recovered' and sent.channel = ${channel})
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

/** Leases the message of the channel that is due, for `leaseMs`. */
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

/** The content of the message: the same for every attempt. */
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
      // A separate message announces an end that came later.
      .map(({ change, ...row }) => (change === 'recovered' ? row : { ...row, recovered_at: null }));
  return { id, createdAt, raised: of('raised'), escalated: of('escalated'), recovered: of('recovered') };
}

/** The message was accepted, or is given up; applies even if the lease has expired. */
export async function endMessage(db: Database, id: string, state: 'sent' | 'given_up'): Promise<void> {
  await db
    .updateTable('alert_messages')
    .set({ state, claimed_until: null })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .execute();
}

/** Unless another instance has claimed it since. */
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
