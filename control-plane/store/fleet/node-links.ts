// Links of nodes as all instances see them, how far journals are committed, and what nodes tell of themselves.
import { sql } from 'kysely';
import type { SlotEvent } from '#shared/link/messages.ts';
import { storableText } from '../../domain/storable-text.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';

/** Events that are kept of each node, the newest ones: a console shows them, nothing depends on them. */
const EVENTS_PER_NODE_MAX = 1_000;

interface LinkRow {
  nodeId: string;
  linkId: string;
  /** The key that proved the link. */
  publicKey: Buffer;
}

/**
 * Notes that a node's link is up, without alarms, taking over from an older one, and returns the highest sequence of its
 * journal that is committed, 0 for one that is new. Undefined when the key is not the node's any more.
 */
export async function openLink(
  db: Database,
  link: LinkRow & { journalId: string; aliveUntil: Date },
): Promise<number | undefined> {
  const { rows } = await sql<{ acknowledged: number }>`
    with opened as (
      update nodes set link_id = ${link.linkId}, link_alive_until = ${link.aliveUntil}, alarms = '{}'
      where id = ${link.nodeId} and public_key = ${link.publicKey} and revoked_at is null
      returning id
    )
    select coalesce(journals.acknowledged, 0) as acknowledged
    from opened
    left join journals on journals.node_id = opened.id and journals.journal_id = ${link.journalId}`.execute(
    db,
  );
  return rows[0]?.acknowledged;
}

export type LinkStanding = 'up' | 'replaced' | 'unauthorized' | 'revoked';

/** Says that the link is still up, and returns whether it should be. */
export async function renewLink(db: Database, link: LinkRow, aliveUntil: Date): Promise<LinkStanding> {
  const renewed = await db
    .updateTable('nodes')
    .set({ link_alive_until: aliveUntil })
    .where('id', '=', link.nodeId)
    .where('link_id', '=', link.linkId)
    .where('public_key', '=', link.publicKey)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (renewed !== undefined) return 'up';
  const node = await db
    .selectFrom('nodes')
    .select(['public_key', 'revoked_at'])
    .where('id', '=', link.nodeId)
    .executeTakeFirst();
  if (node === undefined || node.revoked_at !== null) return 'revoked';
  const isKnown = node.public_key !== null && Buffer.compare(node.public_key, link.publicKey) === 0;
  return isKnown ? 'replaced' : 'unauthorized';
}

/** Notes when a link ended: the node's SIMs are its own for a while after that. */
export async function closeLink(db: Database, linkId: string, now: Date): Promise<void> {
  await db
    .updateTable('nodes')
    .set({ link_id: null, link_alive_until: now })
    .where('link_id', '=', linkId)
    .execute();
}

/**
 * Notes how far a journal is committed, and returns how far it was. Until the end of the transaction no other one does so for it.
 * Throws where another link has begun the journal at this moment.
 */
export async function setAcknowledged(
  trx: DatabaseTransaction,
  journal: { nodeId: string; journalId: string; sequence: number },
): Promise<number> {
  const { nodeId, journalId, sequence } = journal;
  const { rows } = await sql<{ before: number | null; is_new: boolean }>`
    with known as materialized (
      select acknowledged from journals where node_id = ${nodeId} and journal_id = ${journalId} for update
    )
    insert into journals (node_id, journal_id, acknowledged)
    select ${nodeId}, ${journalId}, ${sequence}::bigint from (select) as one left join known on true
    on conflict (node_id, journal_id) do update
      set acknowledged = greatest(journals.acknowledged, excluded.acknowledged)
    returning (select acknowledged from known) as before, xmax = 0 as is_new`.execute(trx);
  const [noted] = rows;
  if (noted?.before === null && !noted.is_new) throw new Error('another link begins this journal');
  return noted?.before ?? 0;
}

/** Counts received SMS that were not kept because nobody holds the number of their SIM. */
export async function countUnheld(trx: DatabaseTransaction, nodeId: string, count: number): Promise<void> {
  await trx
    .updateTable('nodes')
    .set((eb) => ({ unheld_messages: eb('unheld_messages', '+', count) }))
    .where('id', '=', nodeId)
    .execute();
}

/** Notes the troubles that a node tells, unless a newer link of the node has taken over. */
export async function setAlarms(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  alarms: readonly string[],
): Promise<void> {
  const texts = alarms.map(storableText);
  await sql`
    update nodes set alarms = ${texts}::text[] where id = ${nodeId} and link_id = ${linkId}`.execute(db);
}

/** Notes how many facts wait at a node, unless a newer link of the node has taken over. */
export async function setJournalDepth(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  depth: number | null,
): Promise<void> {
  await db
    .updateTable('nodes')
    .set({ journal_depth: depth })
    .where('id', '=', nodeId)
    .where('link_id', '=', linkId)
    .execute();
}

/** Keeps events of a node and forgets its oldest ones. */
export async function insertEvents(
  db: Database,
  nodeId: string,
  events: readonly SlotEvent[],
  now: Date,
): Promise<void> {
  await db
    .insertInto('node_events')
    .values(
      events.map(({ slot, kind, detail, at }) => ({
        node_id: nodeId,
        slot: storableText(slot),
        kind: storableText(kind),
        detail: storableText(detail),
        at: new Date(at),
        received_at: now,
      })),
    )
    .execute();
  await sql`
    delete from node_events where node_id = ${nodeId} and id <= (
      select id from node_events where node_id = ${nodeId} order by id desc offset ${EVENTS_PER_NODE_MAX} limit 1
    )`.execute(db);
}
