// The SIMs that nodes hold, where they sit, and the numbers they bring.
import { sql } from 'kysely';
import type { Slot } from '#shared/link/messages.ts';
import { withoutNul } from '../domain/storable-text.ts';
import type { Database, DatabaseTransaction } from './database.ts';

type HeldSlot = Slot & { iccid: string };

/**
 * Replaces what is known of a node's slots, unless a newer link of the node has taken over. A SIM that tells
 * its own number brings that number into the service; a number that another SIM has already is left with it
 * and returned as a conflict.
 */
export async function replaceSlots(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  now: Date,
): Promise<{ conflicts: Array<{ iccid: string; number: string }> }> {
  const held = heldSlots(slots);
  return db.transaction().execute(async (trx) => {
    const node = await trx
      .selectFrom('nodes')
      .select('id')
      .where('id', '=', nodeId)
      .where('link_id', '=', linkId)
      .forUpdate()
      .executeTakeFirst();
    if (node === undefined) return { conflicts: [] };
    await sql`
      delete from sims
      where node_id = ${nodeId} and iccid <> all (${held.map(({ iccid }) => iccid)}::text[])`.execute(trx);
    if (held.length === 0) return { conflicts: [] };
    await upsertSims(trx, nodeId, held, now);
    return { conflicts: await introduceNumbers(trx, held, now) };
  });
}

/** One slot a SIM, in the order of SIMs: two nodes that tell the same ones must not wait for each other. */
function heldSlots(slots: readonly Slot[]): HeldSlot[] {
  const held = new Map<string, HeldSlot>();
  for (const slot of slots) {
    if (slot.iccid === null) continue;
    // Two slots tell the same SIM when it was moved: the one that lost its modem tells the past.
    if (slot.state !== 'lost' || !held.has(slot.iccid)) held.set(slot.iccid, { ...slot, iccid: slot.iccid });
  }
  return [...held.values()].sort((a, b) => (a.iccid < b.iccid ? -1 : 1));
}

const storable = (text: string | null): string | null => (text === null ? null : withoutNul(text));

async function upsertSims(
  trx: DatabaseTransaction,
  nodeId: string,
  held: readonly HeldSlot[],
  now: Date,
): Promise<void> {
  await trx
    .insertInto('sims')
    .values(
      held.map((slot) => ({
        iccid: slot.iccid,
        node_id: nodeId,
        slot: withoutNul(slot.slot),
        device_id: slot.device_id,
        state: slot.state,
        operator: storable(slot.operator),
        signal_dbm: slot.signal_dbm,
        model: storable(slot.model),
        usb_path: storable(slot.usb_path),
        reason: storable(slot.reason),
        updated_at: now,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .column('iccid')
        .doUpdateSet((eb) => ({
          node_id: eb.ref('excluded.node_id'),
          slot: eb.ref('excluded.slot'),
          device_id: eb.ref('excluded.device_id'),
          state: eb.ref('excluded.state'),
          operator: eb.ref('excluded.operator'),
          signal_dbm: eb.ref('excluded.signal_dbm'),
          model: eb.ref('excluded.model'),
          usb_path: eb.ref('excluded.usb_path'),
          reason: eb.ref('excluded.reason'),
          updated_at: eb.ref('excluded.updated_at'),
        }))
        // A slot that lost its modem tells what was in it last: the SIM may be elsewhere by now.
        .where((eb) => eb.or([eb('sims.node_id', '=', nodeId), eb('excluded.state', '<>', 'lost')])),
    )
    .execute();
}

async function introduceNumbers(
  trx: DatabaseTransaction,
  held: readonly HeldSlot[],
  now: Date,
): Promise<Array<{ iccid: string; number: string }>> {
  const told = held.flatMap(({ iccid, number }) => (number === null ? [] : [{ iccid, number }]));
  if (told.length === 0) return [];
  const numbers = told.map(({ number }) => number);
  const known = async (): Promise<Map<string, string>> => {
    const rows = await trx
      .selectFrom('numbers')
      .select(['number', 'iccid'])
      .where('number', 'in', numbers)
      .execute();
    return new Map(rows.map(({ number, iccid }) => [number, iccid]));
  };
  let owners = await known();
  const fresh = told.filter(({ number }) => !owners.has(number));
  if (fresh.length > 0) {
    await trx
      .insertInto('numbers')
      .values(fresh.map((row) => ({ ...row, created_at: now })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    owners = await known();
  }
  return told.filter(({ number, iccid }) => owners.get(number) !== iccid);
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
