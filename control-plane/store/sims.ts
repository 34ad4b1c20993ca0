// The SIMs that nodes hold, where they sit, the numbers they bring, and the subscriptions they are bound to.
import { sql } from 'kysely';
import type { Slot } from '#shared/link/messages.ts';
import { storableText } from '../domain/storable-text.ts';
import type { Database } from './database.ts';
import type { UnregisteredSlot } from './tables.ts';

type HeldSlot = Slot & { iccid: string };

/**
 * Replaces what is known of a node's slots, in one statement, unless a newer link of the node has taken over. Those
 * that are not registered are kept on the node's row, for a SIM that is locked or absent tells no ICCID. A
 * SIM that tells its own number brings that number into the service; a number that another SIM has already is
 * left with it and returned as a conflict. A SIM that sits elsewhere than before, or in no slot, is bound to nothing.
 */
export async function replaceSlots(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  now: Date,
): Promise<{ conflicts: Array<{ iccid: string; number: string }> }> {
  const held = heldSlots(slots);
  const column = <K extends keyof HeldSlot>(key: K) => held.map((slot) => slot[key]);
  const storages = column('storage');
  const { rows } = await sql`
    with node as (
      update nodes set unregistered_slots = ${JSON.stringify(unregisteredSlots(slots))}::jsonb
      where id = ${nodeId} and link_id = ${linkId} and revoked_at is null
      returning id
    ), gone as (
      delete from sims using node
      where sims.node_id = node.id and sims.iccid <> all (${column('iccid')}::text[])
    ), held as (
      insert into sims (iccid, node_id, slot, device_id, state, operator, signal_dbm, model, usb_path, reason,
        storage_used, storage_total, updated_at)
      select told.iccid, node.id, told.slot, told.device_id, told.state, told.operator, told.signal_dbm,
        told.model, told.usb_path, told.reason, told.storage_used, told.storage_total, ${now}::timestamptz
      from node, unnest(${column('iccid')}::text[], ${column('slot')}::text[], ${column('device_id')}::text[],
        ${column('state')}::text[], ${column('operator')}::text[], ${column('signal_dbm')}::integer[],
        ${column('model')}::text[], ${column('usb_path')}::text[], ${column('reason')}::text[],
        ${storages.map((storage) => storage?.used ?? null)}::integer[],
        ${storages.map((storage) => storage?.total ?? null)}::integer[])
        as told (iccid, slot, device_id, state, operator, signal_dbm, model, usb_path, reason, storage_used,
          storage_total)
      on conflict (iccid) do update set
        node_id = excluded.node_id, slot = excluded.slot, device_id = excluded.device_id,
        state = excluded.state, operator = excluded.operator, signal_dbm = excluded.signal_dbm,
        model = excluded.model, usb_path = excluded.usb_path, reason = excluded.reason,
        storage_used = excluded.storage_used, storage_total = excluded.storage_total,
        updated_at = excluded.updated_at,
        bound_to = case when (sims.node_id, sims.slot, sims.device_id)
          is not distinct from (excluded.node_id, excluded.slot, excluded.device_id) then sims.bound_to end
      -- A slot that lost its modem tells what was in it last: the SIM may be elsewhere by now.
      where sims.node_id = excluded.node_id or excluded.state <> 'lost'
    )
    select from node`.execute(db);
  return { conflicts: rows.length === 0 ? [] : await introduceNumbers(db, held, now) };
}

function unregisteredSlots(slots: readonly Slot[]): UnregisteredSlot[] {
  return slots
    .filter(({ state }) => state !== 'registered')
    .map(({ slot, state, reason }) => ({ slot: storableText(slot), state, reason: storableOrNull(reason) }));
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
  slot: storableText(slot.slot),
  operator: storableOrNull(slot.operator),
  model: storableOrNull(slot.model),
  usb_path: storableOrNull(slot.usb_path),
  reason: storableOrNull(slot.reason),
});

const storableOrNull = (text: string | null): string | null => (text === null ? null : storableText(text));

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

/**
 * The node that holds the SIM of a number now, and the subscription for which it confirmed that; undefined when no
 * node says so.
 */
export async function locateNumber(
  db: Database,
  number: string,
): Promise<{ iccid: string; nodeId: string; boundTo: string | null } | undefined> {
  return db
    .selectFrom('numbers')
    .innerJoin('sims', 'sims.iccid', 'numbers.iccid')
    .select(['numbers.iccid', 'sims.node_id as nodeId', 'sims.bound_to as boundTo'])
    .where('numbers.number', '=', number)
    .executeTakeFirst();
}

/** IMEI of the modem that holds a SIM, or the name of its slot; undefined when no node says where it is. */
export async function deviceOfSim(db: Database, iccid: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('sims')
    .select(['device_id', 'slot'])
    .where('iccid', '=', iccid)
    .executeTakeFirst();
  return row?.device_id ?? row?.slot;
}

/** A subscription that waits for the node to confirm its SIM, and the place where the SIM was seen. */
export interface Unbound {
  subscriptionId: string;
  iccid: string;
  slot: string;
}

export async function findUnbound(db: Database, nodeId: string): Promise<Unbound[]> {
  return db
    .selectFrom('sims')
    .innerJoin('numbers', 'numbers.iccid', 'sims.iccid')
    .innerJoin('subscriptions', 'subscriptions.number', 'numbers.number')
    .select(['subscriptions.id as subscriptionId', 'sims.iccid', 'sims.slot'])
    .where('sims.node_id', '=', nodeId)
    .where('sims.state', '=', 'registered')
    .whereRef('sims.bound_to', 'is distinct from', 'subscriptions.id')
    .execute();
}

/** Binds a SIM that the node has confirmed, unless it has moved meanwhile. */
export async function setBound(
  db: Database,
  nodeId: string,
  { subscriptionId, iccid, slot }: Unbound,
): Promise<void> {
  await db
    .updateTable('sims')
    .set({ bound_to: subscriptionId })
    .where('iccid', '=', iccid)
    .where('node_id', '=', nodeId)
    .where('slot', '=', slot)
    .execute();
}
