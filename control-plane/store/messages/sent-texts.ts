// How the texts of subscribers ended, by the slot that sent them. A row has no number and no text, so it outlives both. Probes have none.
import { type RawBuilder, sql } from 'kysely';
import type { OutboundStatus } from '#shared/api/answers.ts';
import type { FailureClass } from '#shared/sms/failure-class.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { inBatches } from '../database/lists.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A week and a day: the longest span of the report, whatever the time of day. */
const KEPT_MS = 8 * DAY_MS;

export interface SlotOfText {
  nodeId: string;
  slot: string;
  /** As its modem reports it. */
  carrier: string | null;
}

/** For the statement that counts the text. */
export const insertSentText = (
  commandId: string,
  { nodeId, slot, carrier }: SlotOfText,
  now: Date,
): RawBuilder<unknown> => sql`
  insert into sent_texts (command_id, node_id, slot, carrier, status, sent_at)
  values (${commandId}, ${nodeId}, ${slot}, ${carrier}, 'sending', ${now}::timestamptz)`;

export interface TextEnd {
  carrier: string | null;
  result: 'delivered' | FailureClass;
  /** From the request until the service had the report, by its own clock; undefined without a report. */
  reportSeconds: number | undefined;
}

/** A change of a sent message. */
export interface SentChange {
  /** Undefined if nothing changed. */
  subscriptionId: string | undefined;
  /** The change ended the text. */
  end: TextEnd | undefined;
}

interface ChangedRow {
  subscription_id: string;
  carrier: string | null;
  status: OutboundStatus | null;
  failure_class: FailureClass | null;
  report_ms: number | null;
}

/** Runs an update of at most one row of `messages`, and takes its new status over into the figures. One statement. */
export async function withSentText(
  db: Database | DatabaseTransaction,
  update: RawBuilder<unknown>,
  { why, reportedAt }: { why?: FailureClass; reportedAt?: Date } = {},
): Promise<SentChange> {
  const { rows } = await sql<ChangedRow>`
    with changed as (${update} returning command_id, subscription_id, status),
    counted as (
      update sent_texts set status = changed.status,
        failure_class = case when changed.status in ('failed', 'expired') then ${why ?? null}::text end,
        report_ms = case when changed.status in ('delivered', 'failed', 'expired')
          then greatest(0, extract(epoch from ${reportedAt ?? null}::timestamptz - sent_at) * 1000)::bigint end
      from changed
      where sent_texts.command_id = changed.command_id and sent_texts.status <> changed.status
      returning sent_texts.carrier, sent_texts.status, sent_texts.failure_class, sent_texts.report_ms
    )
    select changed.subscription_id, counted.* from changed left join counted on true`.execute(db);
  const [row] = rows;
  return { subscriptionId: row?.subscription_id, end: row && endOf(row) };
}

function endOf({ carrier, status, failure_class, report_ms }: ChangedRow): TextEnd | undefined {
  const result = status === 'delivered' ? status : failure_class;
  if (result === null) return undefined;
  return { carrier, result, reportSeconds: report_ms === null ? undefined : report_ms / 1000 };
}

/** The text says nothing about its slot. */
export async function forgetSentText(db: Database, commandId: string): Promise<void> {
  await db.deleteFrom('sent_texts').where('command_id', '=', commandId).execute();
}

export async function deleteOldSentTexts(db: Database, now: Date): Promise<void> {
  await inBatches(async (limit) => {
    const { numAffectedRows = 0n } = await sql`
      delete from sent_texts where ctid = any(array(
        select ctid from sent_texts where sent_at < ${new Date(now.getTime() - KEPT_MS)}::timestamptz
        order by sent_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows);
  });
}
