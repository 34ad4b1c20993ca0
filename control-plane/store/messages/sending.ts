// Admits each text of a subscription: not to a recipient that stopped them, and within the limits of the number. Texts that were handed to
// a node are counted in a table of their own for a day, since subscribers can delete their messages.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { peerKeyOf } from '../../domain/opt-out.ts';
import {
  type AddedUsage,
  type ExceededLimit,
  exceededBy,
  nearlyUsed,
  receivedNeeded,
  SENDING_DAY_MS,
  type SendingLevel,
  type SendingLimits,
  type SendingUsage,
} from '../../domain/sending-limits.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { inBatches } from '../database/lists.ts';
import { insertSending } from './messages.ts';
import { insertSentText, type SlotOfText } from './sent-texts.ts';

const MINUTE_MS = 60_000;

/** Longer than a day, so that instances whose clocks differ count the same texts. */
const KEPT_MS = SENDING_DAY_MS + 60 * MINUTE_MS;

interface NewText {
  commandId: string;
  /** Undefined: there is no node, and the text fails at once. It is not counted. */
  slot: SlotOfText | undefined;
  subscriptionId: string;
  from: string;
  to: string;
  body: string;
  segments: number;
  now: Date;
}

export type SendAdmission =
  | { kind: 'admitted'; nearLimits: SendingLevel[] }
  | { kind: 'opted_out' }
  | { kind: 'limited'; exceeded: ExceededLimit; retryAfterMs: number }
  /** The subscription was removed meanwhile. */
  | { kind: 'gone' };

/**
 * Records the text as being sent, if it may be sent. Texts of one subscription take turns at any instance, so that parallel ones cannot
 * exceed a limit together. Each sees the keywords that were committed before its turn.
 */
export function admitSend(db: Database, text: NewText, limits: SendingLimits): Promise<SendAdmission> {
  return db.transaction().execute(async (trx): Promise<SendAdmission> => {
    // Incoming messages of the subscription do not wait for this lock. The next statement sees what was committed before it was granted.
    const locked =
      await sql`select from subscriptions where id = ${text.subscriptionId} for no key update`.execute(trx);
    if (locked.rows.length === 0) return { kind: 'gone' };
    const { isOptedOut, usage, added } = await readUsage(trx, text, limits);
    if (isOptedOut) return { kind: 'opted_out' };
    const { slot } = text;
    const exceeded = slot && exceededBy(usage, limits, added);
    if (exceeded !== undefined) {
      await noteNear(trx, text, [exceeded]);
      return { kind: 'limited', exceeded, retryAfterMs: await waitFor(trx, text, exceeded) };
    }
    await insertSending(trx, { ...text, nodeId: slot?.nodeId });
    if (slot === undefined) return { kind: 'admitted', nearLimits: [] };
    await count(trx, text, slot);
    const nearLimits = nearlyUsed(usage, limits, added);
    await noteNear(trx, text, nearLimits);
    return { kind: 'admitted', nearLimits };
  });
}

/** A node did not try the text, and never will: it does not count. */
export async function uncountSend(db: Database, commandId: string): Promise<void> {
  await db.deleteFrom('recent_sends').where('command_id', '=', commandId).execute();
}

interface Readings {
  minute: number;
  day: number;
  recipients: number;
  repeated: number;
  has_recipient: boolean;
  has_repetition: boolean;
  is_opted_out: boolean;
}

/** One statement over the texts of a day, at most as many as the limit; and one over the received ones if they matter. */
async function readUsage(
  trx: DatabaseTransaction,
  { body, now, segments, subscriptionId, to }: NewText,
  limits: SendingLimits,
): Promise<{ usage: SendingUsage; added: AddedUsage; isOptedOut: boolean }> {
  const recipient = sql`${digestOf(subscriptionId, to)}::text`;
  const content = sql`${contentOf(subscriptionId, body)}::text`;
  const { rows } = await sql<Readings>`
    select
      count(*) filter (where sent_at > ${before(now, MINUTE_MS)}::timestamptz)::int as minute,
      count(*)::int as day,
      count(distinct recipient)::int as recipients,
      count(distinct recipient) filter (where content = ${content})::int as repeated,
      coalesce(bool_or(recipient = ${recipient}), false) as has_recipient,
      coalesce(bool_or(recipient = ${recipient} and content = ${content}), false) as has_repetition,
      coalesce((select is_opted_out from opt_outs
        where subscription_id = ${subscriptionId} and peer = ${peerKeyOf(to)}), false) as is_opted_out
    from recent_sends
    where subscription_id = ${subscriptionId} and sent_at > ${before(now, SENDING_DAY_MS)}::timestamptz`.execute(
    trx,
  );
  const [read] = rows;
  if (read === undefined) throw new Error('an aggregate returned no row');
  const { day, minute, recipients, repeated } = read;
  const needed = receivedNeeded(day + segments, limits);
  const received = needed === 0 ? 0 : await countReceived(trx, { subscriptionId, now, needed });
  return {
    usage: { minute, day, recipients, repeated, received },
    added: { segments, isNewRecipient: !read.has_recipient, isNewRepetition: !read.has_repetition },
    isOptedOut: read.is_opted_out,
  };
}

/** At most `needed`: the number may receive any number of texts. */
async function countReceived(
  trx: DatabaseTransaction,
  { needed, now, subscriptionId }: { subscriptionId: string; now: Date; needed: number },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from messages where subscription_id = ${subscriptionId} and direction = 'received'
        and created_at > ${before(now, SENDING_DAY_MS)}::timestamptz
      order by created_at desc, id desc limit ${needed}
    ) as received`.execute(trx);
  return rows[0]?.count ?? 0;
}

async function count(trx: DatabaseTransaction, text: NewText, slot: SlotOfText): Promise<void> {
  const { body, commandId, now, segments, subscriptionId, to } = text;
  await sql`
    with sent as (${insertSentText(commandId, slot, now)})
    insert into recent_sends (command_id, segment, subscription_id, recipient, content, sent_at)
    select ${commandId}::text, segment, ${subscriptionId}::text, ${digestOf(subscriptionId, to)}::text,
      ${contentOf(subscriptionId, body)}::text, ${now}::timestamptz
    from generate_series(1, ${segments}::int) as segment`.execute(trx);
}

/** For the alerts of the operator: one row for each subscription and limit. */
async function noteNear(
  trx: DatabaseTransaction,
  { now, subscriptionId }: NewText,
  levels: readonly SendingLevel[],
): Promise<void> {
  for (const { limit, max, used } of levels)
    await sql`
      insert into sending_warnings (subscription_id, sending_limit, used, max, at)
      values (${subscriptionId}, ${limit}, ${used}, ${max}, ${now}::timestamptz)
      on conflict (subscription_id, sending_limit) do update
      set used = excluded.used, max = excluded.max, at = excluded.at`.execute(trx);
}

/** Time until enough of what counts has left the window. */
async function waitFor(trx: DatabaseTransaction, text: NewText, exceeded: ExceededLimit): Promise<number> {
  const { added, limit, max, used, windowMs } = exceeded;
  const { body, now, subscriptionId } = text;
  // The last one that has to leave, oldest first.
  const place = Math.min(used, used + added - max) - 1;
  const isOfRecipients = limit === 'recipients_per_day' || limit === 'repeated_text_recipients_per_day';
  const content = limit === 'repeated_text_recipients_per_day' ? contentOf(subscriptionId, body) : null;
  const { rows } = await sql<{ at: Date }>`
    select max(sent_at) as at from recent_sends
    where subscription_id = ${subscriptionId} and sent_at > ${before(now, windowMs)}::timestamptz
      and content = coalesce(${content}::text, content)
    group by ${isOfRecipients ? sql`recipient` : sql`command_id, segment`}
    order by at offset ${place}::int limit 1`.execute(trx);
  const leavesAt = (rows[0]?.at ?? now).getTime() + windowMs;
  return Math.min(windowMs, Math.max(0, leavesAt - now.getTime()));
}

/** Deletes what no longer counts. */
export async function deleteOldSends(db: Database, now: Date): Promise<void> {
  await inBatches(async (limit) => {
    // By the place of the rows: their key is not the order in which they age.
    const { numAffectedRows = 0n } = await sql`
      delete from recent_sends where ctid = any(array(
        select ctid from recent_sends where sent_at < ${before(now, KEPT_MS)}::timestamptz
        order by sent_at limit ${limit} for update skip locked))`.execute(db);
    return Number(numAffectedRows);
  });
  await db.deleteFrom('sending_warnings').where('at', '<', before(now, KEPT_MS)).execute();
}

const before = (now: Date, ms: number): Date => new Date(now.getTime() - ms);

/** Only for comparison. The table outlives messages that their subscriber deletes, so it has neither numbers nor text. */
const digestOf = (subscriptionId: string, text: string): string =>
  createHash('sha256').update(`${subscriptionId}\n${text}`).digest('base64url').slice(0, 22);

/** Texts that differ only in letter case and white space are the same. */
const contentOf = (subscriptionId: string, body: string): string =>
  digestOf(subscriptionId, body.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase());
