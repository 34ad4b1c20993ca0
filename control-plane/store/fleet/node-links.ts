// Links of nodes across all instances, how far journals are committed, and the state that nodes report.
import { sql } from 'kysely';
import type { SlotEvent } from '#shared/link/messages.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { storableText } from '../database/reported-values.ts';

/** Events kept per node, the newest ones. Only the console shows them. */
const EVENTS_PER_NODE_MAX = 1_000;

interface LinkRow {
  nodeId: string;
  linkId: string;
  /** The key with which the link was authenticated. */
  publicKey: Buffer;
}

/**
 * Records that a node's link is up; it replaces an older link. The node's alarms remain until its first report. Returns the highest
 * committed sequence of its journal, 0 for a new one. Undefined when the key is no longer the node's.
 */
export async function openLink(
  db: Database,
  link: LinkRow & { journalId: string; aliveUntil: Date },
): Promise<number | undefined> {
  const { rows } = await sql<{ acknowledged: number }>`
    with opened as (
      update nodes set link_id = ${link.linkId}, link_alive_until = ${link.aliveUntil}
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

export type LinkStatus = 'up' | 'replaced' | 'unauthorized' | 'revoked';

/** Extends the link, and returns whether it may stay up. */
export async function renewLink(db: Database, link: LinkRow, aliveUntil: Date): Promise<LinkStatus> {
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

/** Whether the node has a link, at any instance. */
export async function isLinked(db: Database, nodeId: string, now: Date): Promise<boolean> {
  const row = await db
    .selectFrom('nodes')
    .select('id')
    .where('id', '=', nodeId)
    .where('link_id', 'is not', null)
    .where('link_alive_until', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

/** Records when a link ended. The node's SIMs stay reserved for it for a while. */
export async function closeLink(db: Database, linkId: string, now: Date): Promise<void> {
  await db
    .updateTable('nodes')
    .set({ link_id: null, link_alive_until: now })
    .where('link_id', '=', linkId)
    .execute();
}

/**
 * Records how far a journal is committed, and returns how far it was. Other transactions wait for this one before they change the same
 * journal. Throws if another link begins the journal at this moment.
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
  if (noted?.is_new) await deleteOldJournals(trx, nodeId);
  return noted?.before ?? 0;
}

/** Journals of each node: a disk is replaced now and then, but a node with a stolen key can invent any number of them. */
const JOURNALS_MAX = 200;

async function deleteOldJournals(trx: DatabaseTransaction, nodeId: string): Promise<void> {
  await sql`
    delete from journals where node_id = ${nodeId} and journal_id in (
      select journal_id from journals where node_id = ${nodeId} order by begun_at desc offset ${JOURNALS_MAX}
    )`.execute(trx);
}

/** Counts received SMS that were not kept because the number of their SIM has no subscriber. */
export async function countUnheld(trx: DatabaseTransaction, nodeId: string, count: number): Promise<void> {
  await trx
    .updateTable('nodes')
    .set((eb) => ({ unheld_messages: eb('unheld_messages', '+', count) }))
    .where('id', '=', nodeId)
    .execute();
}

/** Records the alarms of a node, unless a newer link of the node has taken over. Returns whether they were others before. */
export async function setAlarms(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  alarms: readonly string[],
): Promise<boolean> {
  const texts = alarms.map(storableText);
  const { numAffectedRows } = await sql`
    update nodes set alarms = ${texts}::text[]
    where id = ${nodeId} and link_id = ${linkId} and alarms <> ${texts}::text[]`.execute(db);
  return numAffectedRows === 1n;
}

/** Records how many facts are in a node's journal, unless a newer link of the node has taken over. */
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

/** Stores events of a node and deletes its oldest ones. */
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
