// Messages of subscriptions: sent ones with their outcome, received ones and whether a client has claimed them.
import { type Selectable, sql } from 'kysely';
import type { SmsOutcome } from '#shared/link/messages.ts';
import { classOfRejection, classOfReport, type FailureClass } from '#shared/sms/failure-class.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { AnnouncedMms, MessagesTable } from '../database/tables.ts';
import { holderOfFact, isOfHolding, isUndated } from '../fleet/holdings.ts';
import { recordLastReceived } from '../fleet/last-received.ts';
import { applyOptOuts } from './opt-outs.ts';
import { type SentChange, withSentText } from './sent-texts.ts';

export const MESSAGE_COLUMNS = [
  'id',
  'direction',
  'from_number',
  'to_number',
  'body',
  'message_id',
  'status',
  'created_at',
  'received_at',
  'delivered_at',
  'opt_out_type',
  'partial',
  'mms',
] as const;

/** A row as read. `id` counts up over the whole service. */
export type MessageRow = Pick<Selectable<MessagesTable>, (typeof MESSAGE_COLUMNS)[number]>;

interface HistoryQuery {
  subscriptionId: string;
  direction: 'sent' | 'received' | 'both';
  /** Bounds on `created_at`, both inclusive. */
  since: Date | undefined;
  until: Date | undefined;
  /** Only rows after this one in the order of the history. */
  after: { createdAt: Date; id: number } | undefined;
  limit: number;
}

/** A page of the history, newest first. */
export async function listMessages(db: Database, query: HistoryQuery): Promise<MessageRow[]> {
  let select = db
    .selectFrom('messages')
    .select(MESSAGE_COLUMNS)
    .where('subscription_id', '=', query.subscriptionId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit);
  if (query.direction !== 'both') select = select.where('direction', '=', query.direction);
  if (query.since !== undefined) select = select.where('created_at', '>=', query.since);
  if (query.until !== undefined) select = select.where('created_at', '<=', query.until);
  if (query.after !== undefined) {
    const { createdAt, id } = query.after;
    select = select.where(sql<boolean>`(created_at, id) < (${createdAt}::timestamptz, ${id}::bigint)`);
  }
  return select.execute();
}

export interface ReceivedMessage {
  factKey: string;
  iccid: string;
  from: string;
  body: string;
  partial: boolean;
  /** Null for a text. */
  mms: AnnouncedMms | null;
  receivedAt: Date;
  /** When the service center received it; null if its stamp is invalid or implausible. */
  sentAt: Date | null;
  /** When the node read it, by its clock. */
  readAt: Date;
  /** The text reached the modem after this time; null if it is not known. */
  arrivedAfter: Date | null;
}

/** Texts that belong to no subscription, and are in no inbox. */
export interface UnassignedMessages {
  /** The number had no subscriber when the service center received them. */
  unheld: number;
  /** It is unknown whether the present subscriber had the number then. */
  undated: number;
}

/**
 * Stores received SMS in order, in one statement, for the subscribers that had the numbers of the SIMs when they were sent. Carries out the
 * keywords among them.
 */
export async function insertReceived(
  trx: DatabaseTransaction,
  messages: readonly ReceivedMessage[],
  now: Date,
): Promise<{ subscriptionIds: Set<string> } & UnassignedMessages> {
  if (messages.length === 0) return { subscriptionIds: new Set(), unheld: 0, undated: 0 };
  const { rows } = await sql<{ id: number; subscription_id: string; fact_key: string }>`
    with stored as (
    insert into messages (subscription_id, direction, from_number, to_number, body, fact_key, partial, mms,
      created_at, received_at)
    select subscriptions.id, 'received', fact.from_number, coalesce(former.number, subscriptions.number), fact.body, fact.fact_key,
      fact.partial, fact.mms::jsonb, ${now}::timestamptz, fact.received_at
    from ${factRows(messages)}
    ${holderOfFact(now)}
    where ${isOfHolding}
    order by fact.position
    -- Waits for a subscription that is being purged, which is no holder then.
    for key share of subscriptions
    -- A fact is reported again, and a carrier announces an MMS again until it is fetched.
    on conflict do nothing
    returning id, subscription_id, fact_key
    ), last as (${recordLastReceived(sql`stored`, now)})
    select * from stored`.execute(trx);
  const stored = new Map(rows.map((row) => [row.fact_key, row]));
  const texts = messages.flatMap(({ body, factKey, from, mms, partial, readAt, sentAt }) => {
    const row = stored.get(factKey);
    if (row === undefined || partial || mms !== null) return [];
    // A stamp of tomorrow would outweigh all keywords until then.
    const at = new Date(Math.min((sentAt ?? readAt).getTime(), now.getTime()));
    return [{ id: row.id, subscriptionId: row.subscription_id, from, body, at }];
  });
  await applyOptOuts(trx, texts);
  const subscriptionIds = new Set(rows.map((row) => row.subscription_id));
  const unassigned =
    rows.length === messages.length
      ? { unheld: 0, undated: 0 }
      : await countUnassignedMessages(trx, messages, now);
  return { subscriptionIds, ...unassigned };
}

function factRows(messages: readonly ReceivedMessage[]) {
  const column = <K extends keyof ReceivedMessage>(key: K) => messages.map((message) => message[key]);
  return sql`unnest(${column('factKey')}::text[], ${column('iccid')}::text[], ${column('from')}::text[],
      ${column('body')}::text[], ${column('partial')}::boolean[], ${column('receivedAt')}::timestamptz[],
      ${column('sentAt')}::timestamptz[], ${column('readAt')}::timestamptz[], ${column('arrivedAfter')}::timestamptz[],
      ${messages.map(({ mms }) => mms && JSON.stringify(mms))}::text[])
    with ordinality as fact (fact_key, iccid, from_number, body, partial, received_at, sent_at, read_at,
      arrived_after, mms, position)`;
}

async function countUnassignedMessages(
  trx: DatabaseTransaction,
  messages: readonly ReceivedMessage[],
  now: Date,
): Promise<UnassignedMessages> {
  const { rows } = await sql<{ theirs: number; undated: number }>`
    select count(distinct fact.fact_key) filter (where ${isOfHolding})::int as theirs,
      count(distinct fact.fact_key) filter (where ${isUndated} and not ${isOfHolding})::int as undated
    from ${factRows(messages)}
    ${holderOfFact(now)}`.execute(trx);
  const { theirs = 0, undated = 0 } = rows[0] ?? {};
  return { unheld: messages.length - theirs - undated, undated };
}

/**
 * Records an SMS before it is sent to a node. `commandId` identifies it all the way to the modem. Without a node it is `failed` from the
 * start.
 */
export async function insertSending(
  db: Database | DatabaseTransaction,
  message: {
    commandId: string;
    nodeId: string | undefined;
    subscriptionId: string;
    from: string;
    to: string;
    body: string;
    now: Date;
  },
): Promise<void> {
  await db
    .insertInto('messages')
    .values({
      subscription_id: message.subscriptionId,
      direction: 'sent',
      from_number: message.from,
      to_number: message.to,
      body: message.body,
      status: message.nodeId === undefined ? 'failed' : 'sending',
      command_id: message.commandId,
      command_node_id: message.nodeId ?? null,
      created_at: message.now,
    })
    .execute();
}

/** The message id that contains the carrier's reference: `<command id>.<TP-MR of the first segment>`. */
export function messageIdOf(commandId: string, outcome: SmsOutcome & { status: 'accepted' }): string {
  return idWithReference(commandId, outcome.message_references[0]);
}

function idWithReference(commandId: string, reference: number | undefined): string {
  return `${commandId}.${reference}`;
}

/**
 * Records the outcome of a send that a node reports. Only an open message changes; one that a delivery report has ended gets its id.
 */
export async function recordOutcome(
  db: Database | DatabaseTransaction,
  commandId: string,
  outcome: SmsOutcome,
): Promise<SentChange> {
  if (outcome.status !== 'accepted')
    return recordNoOutcome(
      db,
      commandId,
      outcome.status === 'rejected'
        ? { status: 'failed', why: classOfRejection(outcome) }
        : { status: 'unknown' },
    );
  // The carrier has it, even if an earlier timeout suggested otherwise.
  return withSentText(
    db,
    sql`update messages set
      status = case when status in ('sending', 'unknown', 'failed') and not ended_by_report
        then 'queued' else status end,
      message_id = coalesce(message_id, ${messageIdOf(commandId, outcome)}::text)
    where command_id = ${commandId}`,
  );
}

/** Whether this node was asked to send the message: no other node may report its outcome. */
export async function isSentBy(db: Database, nodeId: string, commandId: string): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('command_id', '=', commandId)
    .where('command_node_id', '=', nodeId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Records that the outcome is unknown, or that the send failed. Only an open message changes. */
export async function recordNoOutcome(
  db: Database | DatabaseTransaction,
  commandId: string,
  change: { status: 'unknown' } | { status: 'failed'; why: FailureClass },
): Promise<SentChange> {
  return withSentText(
    db,
    sql`update messages set status = ${change.status}
    where command_id = ${commandId} and status in ('sending', 'unknown')`,
    change.status === 'failed' ? { why: change.why } : {},
  );
}

/** The carrier's report on one segment (3GPP TS 23.040 §9.2.2.3): `part` of `parts`, from 1. */
interface SegmentReport {
  status: 'delivered' | 'failed' | 'expired';
  /** TP-Status octet. */
  tpStatus: number;
  /** TP-MR. */
  reference: number;
  part: number;
  parts: number;
  /** When the service got it. */
  now: Date;
}

/**
 * Records a delivery report. A message is delivered when all of its segments are, and failed when one finally is; the first end counts. A
 * report may arrive before the node confirms the send, and proves it.
 */
export async function recordReport(
  trx: DatabaseTransaction,
  commandId: string,
  { status, tpStatus, reference, part, parts, now }: SegmentReport,
): Promise<SentChange> {
  const delivered = sql`select distinct part from unnest(delivered_parts || ${part}::integer) as part`;
  const isDelivered = sql`(select count(*) from (${delivered}) as parts) >= ${parts}::integer`;
  const change =
    status === 'delivered'
      ? sql`delivered_parts = array(${delivered} order by part), ended_by_report = ${isDelivered},
        status = case when ${isDelivered} then 'delivered' else status end`
      : sql`status = ${status}, ended_by_report = true`;
  const id = part === 1 ? idWithReference(commandId, reference) : null;
  return withSentText(
    trx,
    sql`update messages set ${change}, message_id = coalesce(message_id, ${id}::text)
    where command_id = ${commandId} and status in ('sending', 'unknown', 'queued', 'sent')`,
    { reportedAt: now, ...(status === 'delivered' ? {} : { why: classOfReport(status, tpStatus) }) },
  );
}

/** `sending`: its request has not recorded an outcome. `unknown`: it has recorded that it knows none. */
export type OpenStatus = 'sending' | 'unknown';

export interface OpenSend {
  id: number;
  commandId: string;
  iccid: string;
  to: string;
  body: string;
}

interface OpenSendsQuery {
  id: number;
  after: Date;
  before: Date;
  statuses: readonly OpenStatus[];
}

/**
 * Open sends of a node, made between two instants: the node may know their outcome. Oldest first, at most `OPEN_SENDS_MAX`, after the
 * `id` of the last known one.
 */
export async function findOpenSends(
  db: Database,
  nodeId: string,
  { id, after, before, statuses }: OpenSendsQuery,
): Promise<OpenSend[]> {
  const rows = await db
    .selectFrom('messages')
    .innerJoin('numbers', 'numbers.number', 'messages.from_number')
    .select(['messages.id', 'messages.command_id', 'numbers.iccid', 'messages.to_number', 'messages.body'])
    .where('messages.command_node_id', '=', nodeId)
    .where('messages.direction', '=', 'sent')
    .where('messages.status', 'in', statuses)
    .where('messages.id', '>', id)
    .where('messages.created_at', '>', after)
    .where('messages.created_at', '<', before)
    .orderBy('messages.id')
    .limit(OPEN_SENDS_MAX)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    commandId: String(row.command_id),
    iccid: row.iccid,
    to: row.to_number,
    body: row.body,
  }));
}

/** Requested at once. */
export const OPEN_SENDS_MAX = 500;

/** Unreadable messages kept for each SIM: a node can invent any number of them, and an operator learns nothing from more. */
const UNREADABLE_MAX = 200;

export async function insertUnreadable(
  trx: DatabaseTransaction,
  message: { factKey: string; iccid: string; pdu: string; reason: string; receivedAt: Date },
): Promise<void> {
  const { factKey, iccid, pdu, reason, receivedAt } = message;
  await sql`
    insert into unreadable_messages (fact_key, iccid, pdu, reason, received_at)
    select ${factKey}, ${iccid}, ${pdu}, ${reason}, ${receivedAt}::timestamptz
    where (select count(*) from unreadable_messages where iccid = ${iccid}) < ${UNREADABLE_MAX}
    on conflict (fact_key) do nothing`.execute(trx);
}
