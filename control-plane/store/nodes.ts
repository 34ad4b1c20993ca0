// Nodes, the SIMs they hold, and how far their journals are committed.
import type { Slot } from '#shared/link/messages.ts';
import type { Database, DatabaseTransaction } from './database.ts';

/** Notes that a node's link is up, and takes over from an older link of the same node. */
export async function openLink(
  db: Database,
  link: { nodeId: string; linkId: string; aliveUntil: Date },
): Promise<void> {
  const row = { link_id: link.linkId, link_alive_until: link.aliveUntil };
  await db
    .insertInto('nodes')
    .values({ id: link.nodeId, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
}

/** Says that the link is still up. A link that was taken over changes nothing. */
export async function renewLink(db: Database, linkId: string, aliveUntil: Date): Promise<void> {
  await db.updateTable('nodes').set({ link_alive_until: aliveUntil }).where('link_id', '=', linkId).execute();
}

export async function closeLink(db: Database, linkId: string): Promise<void> {
  await db
    .updateTable('nodes')
    .set({ link_id: null, link_alive_until: null })
    .where('link_id', '=', linkId)
    .execute();
}

/** Highest committed sequence of a node's journal; 0 for one that is new. */
export async function acknowledgedSequence(db: Database, nodeId: string, journalId: string): Promise<number> {
  const row = await db
    .selectFrom('journals')
    .select('acknowledged')
    .where('node_id', '=', nodeId)
    .where('journal_id', '=', journalId)
    .executeTakeFirst();
  return row?.acknowledged ?? 0;
}

export async function setAcknowledged(
  trx: DatabaseTransaction,
  journal: { nodeId: string; journalId: string; sequence: number },
): Promise<void> {
  await trx
    .insertInto('journals')
    .values({ node_id: journal.nodeId, journal_id: journal.journalId, acknowledged: journal.sequence })
    .onConflict((conflict) =>
      conflict
        .columns(['node_id', 'journal_id'])
        .doUpdateSet({ acknowledged: journal.sequence })
        .where('journals.acknowledged', '<', journal.sequence),
    )
    .execute();
}

/**
 * Replaces what is known of a node's slots, unless a newer link of the node has taken over. A SIM that tells its own number brings that number into the
 * service; a number that another SIM has already is left with it and returned as a conflict.
 */
export async function replaceSlots(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  now: Date,
): Promise<{ conflicts: Array<{ iccid: string; number: string }> }> {
  return db.transaction().execute(async (trx) => {
    const node = await trx
      .selectFrom('nodes')
      .select('id')
      .where('id', '=', nodeId)
      .where('link_id', '=', linkId)
      .forUpdate()
      .executeTakeFirst();
    if (node === undefined) return { conflicts: [] };
    const held = slots.filter((slot): slot is Slot & { iccid: string } => slot.iccid !== null);
    let gone = trx.deleteFrom('sims').where('node_id', '=', nodeId);
    if (held.length > 0) {
      gone = gone.where(
        'iccid',
        'not in',
        held.map((slot) => slot.iccid),
      );
    }
    await gone.execute();
    const conflicts: Array<{ iccid: string; number: string }> = [];
    for (const slot of held) {
      await upsertSim(trx, nodeId, slot, now);
      if (slot.number !== null && !(await introduceNumber(trx, slot.number, slot.iccid, now))) {
        conflicts.push({ iccid: slot.iccid, number: slot.number });
      }
    }
    return { conflicts };
  });
}

async function upsertSim(
  trx: DatabaseTransaction,
  nodeId: string,
  slot: Slot & { iccid: string },
  now: Date,
): Promise<void> {
  const row = {
    node_id: nodeId,
    slot: slot.slot,
    device_id: slot.device_id,
    state: slot.state,
    operator: slot.operator,
    signal_dbm: slot.signal_dbm,
    updated_at: now,
  };
  await trx
    .insertInto('sims')
    .values({ iccid: slot.iccid, ...row })
    .onConflict((conflict) =>
      conflict
        .column('iccid')
        .doUpdateSet(row)
        // A slot that lost its modem tells what was in it last: the SIM may be elsewhere by now.
        .where((eb) => eb.or([eb('sims.node_id', '=', nodeId), eb.val(slot.state !== 'lost')])),
    )
    .execute();
}

async function introduceNumber(
  trx: DatabaseTransaction,
  number: string,
  iccid: string,
  now: Date,
): Promise<boolean> {
  await trx
    .insertInto('numbers')
    .values({ number, iccid, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const known = await trx
    .selectFrom('numbers')
    .select('iccid')
    .where('number', '=', number)
    .executeTakeFirst();
  return known?.iccid === iccid;
}

/** The node and slot that hold the SIM of a number now; undefined when no node says so. */
export async function locateNumber(
  db: Database,
  number: string,
): Promise<{ iccid: string; nodeId: string } | undefined> {
  return db
    .selectFrom('numbers')
    .innerJoin('sims', 'sims.iccid', 'numbers.iccid')
    .select(['numbers.iccid', 'sims.node_id as nodeId'])
    .where('numbers.number', '=', number)
    .executeTakeFirst();
}
