// The SIMs that nodes hold, where they sit, and the numbers they bring.
import { sql } from 'kysely';
import type { Slot } from '#shared/link/messages.ts';
import { withoutNul } from '../domain/storable-text.ts';
import type { Database } from './database.ts';
import type { UnregisteredSlot } from './tables.ts';

type HeldSlot = Slot & { iccid: string };

/**
 * Replaces what is known of a node's slots, in one statement, unless a newer link of the node has taken over. Those
 * that are not registered are kept on the node's row, for a SIM that is locked or absent tells no ICCID. A
 * SIM that tells its own number brings that number into the service; a number that another SIM has already is
 * left with it and returned as a conflict.
 */
export async function replaceSlots(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  now: Date,
): Promise<{ conflicts: Array<{ iccid: string; number: string }> }> {
  const held = heldSlots(slots);
  const column = <K extends keyof HeldSlot>(key: K) => held.map((slot) => slot[key]);
  const { rows } = await sql`
    with node as (
      update nodes set unregistered_slots = ${JSON.stringify(unregisteredSlots(slots))}::jsonb
      where id = ${nodeId} and link_id = ${linkId}
      returning id
    ), gone as (
      delete from sims using node
      where sims.node_id = node.id and sims.iccid <> all (${column('iccid')}::text[])
    ), held as (
      insert into sims (iccid, node_id, slot, device_id, state, operator, signal_dbm, model, usb_path, reason,
        updated_at)
      select told.iccid, node.id, told.slot, told.device_id, told.state, told.operator, told.signal_dbm,
        told.model, told.usb_path, told.reason, ${now}::timestamptz
      from node, unnest(${column('iccid')}::text[], ${column('slot')}::text[], ${column('device_id')}::text[],
        ${column('state')}::text[], ${column('operator')}::text[], ${column('signal_dbm')}::integer[],
        ${column('model')}::text[], ${column('usb_path')}::text[], ${column('reason')}::text[])
        as told (iccid, slot, device_id, state, operator, signal_dbm, model, usb_path, reason)
      on conflict (iccid) do update set
        node_id = excluded.node_id, slot = excluded.slot, device_id = excluded.device_id,
        state = excluded.state, operator = excluded.operator, signal_dbm = excluded.signal_dbm,
        model = excluded.model, usb_path = excluded.usb_path, reason = excluded.reason,
        updated_at = excluded.updated_at
      -- A slot that lost its modem tells what was in it last: the SIM may be elsewhere by now.
      where sims.node_id = excluded.node_id or excluded.state <> 'lost'
    )
    select from node`.execute(db);
  return { conflicts: rows.length === 0 ? [] : await introduceNumbers(db, held, now) };
}

function unregisteredSlots(slots: readonly Slot[]): UnregisteredSlot[] {
  return slots
    .filter(({ state }) => state !== 'registered')
    .map(({ slot, state, reason }) => ({ slot: withoutNul(slot), state, reason: withoutNulOrNull(reason) }));
}

/** One slot a SIM, in the order of SIMs: two nodes that tell the same ones must not wait for each other. */
function heldSlots(slots: readonly Slot[]): HeldSlot[] {
  const held = new Map<string, HeldSlot>();
  for (const slot of slots) {
    if (slot.iccid === null) continue;
    // Two slots tell the same SIM when it was moved: the one that lost its modem tells the past.
    if (slot.state !== 'lost' || !held.has(slot.iccid))
      held.set(slot.iccid, storable({ ...slot, iccid: slot.iccid }));
  }
  return [...held.values()].sort((a, b) => (a.iccid < b.iccid ? -1 : 1));
}

const storable = (slot: HeldSlot): HeldSlot => ({
  ...slot,
  slot: withoutNul(slot.slot),
  operator: withoutNulOrNull(slot.operator),
  model: withoutNulOrNull(slot.model),
  usb_path: withoutNulOrNull(slot.usb_path),
  reason: withoutNulOrNull(slot.reason),
});

const withoutNulOrNull = (text: string | null): string | null => (text === null ? null : withoutNul(text));

async function introduceNumbers(
  db: Database,
  held: readonly HeldSlot[],
  now: Date,
): Promise<Array<{ iccid: string; number: string }>> {
  const told = held.flatMap(({ iccid, number }) => (number === null ? [] : [{ iccid, number }]));
  if (told.length === 0) return [];
  const numbers = told.map(({ number }) => number);
  const known = async (): Promise<Map<string, string>> => {
    const rows = await db
      .selectFrom('numbers')
      .select(['number', 'iccid'])
      .where('number', 'in', numbers)
      .execute();
    return new Map(rows.map(({ number, iccid }) => [number, iccid]));
  };
  let owners = await known();
  const fresh = told.filter(({ number }) => !owners.has(number));
  if (fresh.length > 0) {
    await db
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
