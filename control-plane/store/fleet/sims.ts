// The SIMs that nodes hold, where they sit, the numbers they bring, and the subscriptions they are bound to.
import { sql } from 'kysely';
import type { Slot } from '#shared/link/messages.ts';
import { isSellable } from '../../domain/sellable-number.ts';
import { decideClaims, type SimSlot } from '../../domain/sim-claim.ts';
import { storableText } from '../../domain/storable-text.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { disputeNumbers, dropOldRivals } from './number-disputes.ts';
import { countNewSims, proveExpected, readExpected } from './sim-proof.ts';
import { lockTenures, readContested, readHeldBefore, writeClaims, writeTenures } from './sim-tenures.ts';
import { writeSlots } from './slots.ts';

/** How claims of SIMs are judged. */
export interface ClaimRules {
  /** Time in which a node whose link ended may come back before another one can take its SIMs. */
  waitMs: number;
  /** Since when this instance has taken links. */
  servedSince: Date;
  /** Its link ends here, whatever the store says of it. */
  isLinkedHere(nodeId: string): boolean;
  /** Numbers of SIMs never seen are on sale at once. */
  admitsNew: boolean;
}

export interface SlotChange {
  /** SIMs whose reported number another SIM has. */
  conflicts: Array<{ iccid: string; number: string }>;
  /** SIMs whose reported number cannot be sold. */
  unsellable: string[];
  /** SIMs that the node holds since now. */
  taken: string[];
  /** How many it holds, seen or not. */
  tenures: number;
  /** Claims of SIMs that it does not hold. */
  refused: number;
  /** It takes nothing new until an operator approves it, since now. */
  isSuspendedNow: boolean;
}

const NO_CHANGE: SlotChange = {
  conflicts: [],
  unsellable: [],
  taken: [],
  tenures: 0,
  refused: 0,
  isSuspendedNow: false,
};

/**
 * Replaces what is known of a node's slots, in one transaction, unless a newer link of the node has taken over. Only SIMs
 * that the node holds count (`decideClaims`). Slots that are not registered are kept on the node's row, for a SIM that is
 * locked or absent reports no ICCID; so are those whose claim was refused. A SIM that reports its own number brings that
 * number into the service. A SIM that sits elsewhere than before, or in no slot, is bound to nothing.
 */
export async function replaceSlots(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  rules: ClaimRules & { now: Date },
): Promise<SlotChange> {
  const { admitsNew, now, waitMs } = rules;
  const told = slots.map(storable);
  return db.transaction().execute(async (trx) => {
    const node = await trx
      .selectFrom('nodes')
      .select('claims_suspended_at')
      .where('id', '=', nodeId)
      .where('link_id', '=', linkId)
      .where('revoked_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (node === undefined) return NO_CHANGE;
    const iccids = told.flatMap(({ iccid }) => iccid ?? []);
    const tenures = await lockTenures(trx, nodeId, iccids, rules);
    const contested = await readContested(trx, nodeId);
    const heldBefore = await readHeldBefore(trx, nodeId, iccids);
    const wasSuspended = node.claims_suspended_at !== null;
    const expected = await readExpected(trx, iccids);
    const newSims = admitsNew ? 0 : await countNewSims(trx, nodeId, iccids, now);
    const decision = decideClaims({
      nodeId,
      slots: told,
      tenures,
      contested,
      heldBefore,
      expected,
      newSims,
      isSuspended: wasSuspended,
      waitMs,
      now,
    });
    const beaten = new Set(await writeTenures(trx, nodeId, { decision, locked: tenures }, now));
    const held = decision.held.filter(({ iccid }) => !beaten.has(iccid));
    const taken = decision.taken.flatMap(({ iccid }) => (beaten.has(iccid) ? [] : [iccid]));
    await proveExpected(trx, nodeId, taken);
    await writeClaims(trx, nodeId, { held, refused: decision.refused }, now);
    await writeHeld(trx, nodeId, held, now);
    const lost = decision.held.filter(({ iccid }) => beaten.has(iccid));
    await writeSlots(trx, nodeId, told, new Set([...decision.refused, ...lost].map(({ slot }) => slot)));
    const isSuspendedNow = decision.isSuspended && !wasSuspended;
    if (isSuspendedNow)
      await trx.updateTable('nodes').set({ claims_suspended_at: now }).where('id', '=', nodeId).execute();
    const { conflicts, unsellable } = await introduceNumbers(trx, nodeId, held, { now, admitsNew });
    const refused = decision.refused.length + beaten.size;
    return {
      conflicts,
      unsellable,
      taken,
      refused,
      isSuspendedNow,
      tenures: held.length + decision.unseen.length,
    };
  });
}

async function writeHeld(
  trx: DatabaseTransaction,
  nodeId: string,
  held: readonly SimSlot[],
  now: Date,
): Promise<void> {
  const column = <K extends keyof SimSlot>(key: K) => held.map((slot) => slot[key]);
  const storages = column('storage');
  await sql`
    delete from sims where node_id = ${nodeId} and iccid <> all (${column('iccid')}::text[])`.execute(trx);
  await sql`
    insert into sims (iccid, node_id, slot, device_id, state, operator, signal_dbm, model, usb_path, reason,
      storage_used, storage_total, swept_at, updated_at)
    select told.iccid, ${nodeId}, told.slot, told.device_id, told.state, told.operator, told.signal_dbm,
      told.model, told.usb_path, told.reason, told.storage_used, told.storage_total,
      case when told.swept_at > ${now}::timestamptz then ${now}::timestamptz else told.swept_at end, ${now}::timestamptz
    from unnest(${column('iccid')}::text[], ${column('slot')}::text[], ${column('device_id')}::text[],
      ${column('state')}::text[], ${column('operator')}::text[], ${column('signal_dbm')}::integer[],
      ${column('model')}::text[], ${column('usb_path')}::text[], ${column('reason')}::text[],
      ${storages.map((storage) => storage?.used ?? null)}::integer[],
      ${storages.map((storage) => storage?.total ?? null)}::integer[], ${column('swept_at')}::timestamptz[])
      as told (iccid, slot, device_id, state, operator, signal_dbm, model, usb_path, reason, storage_used,
        storage_total, swept_at)
    on conflict (iccid) do update set
      node_id = excluded.node_id, slot = excluded.slot, device_id = excluded.device_id,
      state = excluded.state, operator = excluded.operator, signal_dbm = excluded.signal_dbm,
      model = excluded.model, usb_path = excluded.usb_path, reason = excluded.reason,
      storage_used = excluded.storage_used, storage_total = excluded.storage_total,
      swept_at = excluded.swept_at,
      updated_at = excluded.updated_at,
      bound_to = case when (sims.node_id, sims.slot, sims.device_id)
        is not distinct from (excluded.node_id, excluded.slot, excluded.device_id) then sims.bound_to end`.execute(
    trx,
  );
}

const storable = (slot: Slot): Slot => ({
  ...slot,
  slot: storableText(slot.slot),
  operator: storableOrNull(slot.operator),
  model: storableOrNull(slot.model),
  usb_path: storableOrNull(slot.usb_path),
  reason: storableOrNull(slot.reason),
});

const storableOrNull = (text: string | null): string | null => (text === null ? null : storableText(text));

/** A number that another SIM has stays with it; where nobody has proven that, it is not sold. */
async function introduceNumbers(
  db: DatabaseTransaction,
  nodeId: string,
  held: readonly SimSlot[],
  { now, admitsNew }: { now: Date; admitsNew: boolean },
): Promise<Pick<SlotChange, 'conflicts' | 'unsellable'>> {
  const told = held.flatMap(({ iccid, number }) => (number === null ? [] : [{ iccid, number }]));
  if (told.length === 0) return { conflicts: [], unsellable: [] };
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
  const sellable = fresh.filter(({ number }) => isSellable(number));
  if (sellable.length > 0) {
    const unadmitted_since = admitsNew ? null : now;
    await db
      .insertInto('numbers')
      .values(
        sellable.map((row) => ({ ...row, created_at: now, unadmitted_since, unproven: 'number' as const })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    owners = await known();
  }
  await dropOldRivals(db, told);
  const foreign = told.filter(({ number, iccid }) => owners.has(number) && owners.get(number) !== iccid);
  if (foreign.length > 0) await disputeNumbers(db, nodeId, foreign, now);
  const unsellable = fresh.filter(({ number }) => !isSellable(number)).map(({ iccid }) => iccid);
  const isUnsellable = new Set(unsellable);
  return {
    unsellable,
    conflicts: told.filter(({ number, iccid }) => !isUnsellable.has(iccid) && owners.get(number) !== iccid),
  };
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
