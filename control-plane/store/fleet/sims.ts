// The SIMs that nodes hold: their slots, the numbers they report, and the subscriptions they are bound to.
import { sql } from 'kysely';
import type { Slot, VoiceSettings } from '#shared/link/slot.ts';
import { isSellable } from '../../domain/sellable-number.ts';
import { type ClaimDecision, decideClaims, newSimsMax, type SimSlot } from '../../domain/sim-claim.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import { storableText } from '../database/reported-values.ts';
import { disputeNumbers, dropOldRivals } from './number-disputes.ts';
import { countNewSims, proveExpected, readExpected } from './sim-proof.ts';
import {
  countMovesLeft,
  lockTenures,
  readContested,
  readHeldBefore,
  readLastHolders,
  writeClaims,
  writeTenures,
} from './sim-tenures.ts';
import { writeSlots } from './slots.ts';

/** Rules by which claims of SIMs are decided. */
export interface ClaimRules {
  /** Time in which a node whose link ended may reconnect before another node can take its SIMs. */
  waitMs: number;
  /** When this instance began to accept links. */
  servedSince: Date;
  /** Whether the node's link is at this instance, whatever the store says. */
  isLinkedHere(nodeId: string): boolean;
  /** Numbers of unknown SIMs are on sale at once. */
  admitsNew: boolean;
}

export interface SlotChange {
  /** SIMs whose reported number belongs to another SIM. */
  conflicts: Array<{ iccid: string; number: string }>;
  /** SIMs whose reported number cannot be sold. */
  unsellable: string[];
  /** SIMs that the node has just become the holder of. */
  taken: string[];
  /** How many SIMs it holds, seen or not. */
  tenures: number;
  /** Claims of SIMs that it does not hold. */
  refused: number;
  /** The report suspended the node: it gets no further SIMs until an operator approves it. */
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
 * Replaces the slots of a node in one transaction, unless a newer link of the node has taken over. Only SIMs that the node holds count
 * (`decideClaims`). A slot that is not registered is stored without a SIM: a locked or absent SIM reports no ICCID. So is a slot whose
 * claim was refused. A SIM that reports its own number adds that number to the service. A SIM that moved to another slot, or to none, loses
 * its binding.
 */
export async function replaceSlots(
  db: Database,
  { nodeId, linkId }: { nodeId: string; linkId: string },
  slots: readonly Slot[],
  rules: ClaimRules & { now: Date },
): Promise<SlotChange> {
  const reported = slots.map(storable);
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
    const isSuspended = node.claims_suspended_at !== null;
    const { decision, tenures } = await decide(trx, { nodeId, reported, isSuspended }, rules);
    return writeDecision(trx, { nodeId, reported, isSuspended, decision, tenures }, rules);
  });
}

interface NodeReport {
  nodeId: string;
  reported: readonly Slot[];
  /** The node gets no further SIMs. */
  isSuspended: boolean;
}

/** Reads what claims depend on, and locks the tenures of the reported SIMs. */
async function decide(
  trx: DatabaseTransaction,
  { nodeId, reported, isSuspended }: NodeReport,
  rules: ClaimRules & { now: Date },
): Promise<{ decision: ClaimDecision; tenures: Awaited<ReturnType<typeof lockTenures>> }> {
  const { admitsNew, now, waitMs } = rules;
  const iccids = reported.flatMap(({ iccid }) => iccid ?? []);
  const tenures = await lockTenures(trx, nodeId, iccids, rules);
  const contested = await readContested(trx, nodeId);
  const heldBefore = await readHeldBefore(trx, nodeId, iccids);
  const expected = await readExpected(trx, iccids);
  const newSims = await countNewSims(trx, nodeId, { iccids, admitsNew, now });
  // Most reports claim nothing.
  const own = new Set(tenures.flatMap((tenure) => (tenure.nodeId === nodeId ? [tenure.iccid] : [])));
  const claimed = iccids.filter((iccid) => !own.has(iccid));
  const isClaiming = claimed.length > 0;
  const decision = decideClaims({
    nodeId,
    slots: reported,
    tenures,
    contested,
    heldBefore,
    lastHolders: isClaiming ? await readLastHolders(trx, claimed) : new Map(),
    movesLeft: isClaiming ? await countMovesLeft(trx, nodeId, now) : 0,
    expected,
    newSims,
    newSimsMax: newSimsMax(admitsNew),
    isSuspended,
    waitMs,
    now,
  });
  return { decision, tenures };
}

/** Another node may have been faster with a SIM that was in no tenure: such a claim counts as refused. */
async function writeDecision(
  trx: DatabaseTransaction,
  { nodeId, reported, isSuspended, decision, tenures }: NodeReport & Awaited<ReturnType<typeof decide>>,
  { admitsNew, now }: ClaimRules & { now: Date },
): Promise<SlotChange> {
  const beaten = new Set(await writeTenures(trx, nodeId, { decision, locked: tenures }, now));
  const held = decision.held.filter(({ iccid }) => !beaten.has(iccid));
  const taken = decision.taken.flatMap(({ iccid }) => (beaten.has(iccid) ? [] : [iccid]));
  await proveExpected(trx, nodeId, taken);
  await writeClaims(trx, nodeId, { held, refused: decision.refused }, now);
  await writeHeld(trx, nodeId, held, now);
  const lost = decision.held.filter(({ iccid }) => beaten.has(iccid));
  await writeSlots(trx, nodeId, reported, new Set([...decision.refused, ...lost].map(({ slot }) => slot)));
  const isSuspendedNow = decision.isSuspended && !isSuspended;
  if (isSuspendedNow)
    await trx.updateTable('nodes').set({ claims_suspended_at: now }).where('id', '=', nodeId).execute();
  const { conflicts, unsellable } = await introduceNumbers(trx, nodeId, held, { now, admitsNew });
  return {
    conflicts,
    unsellable,
    taken,
    refused: decision.refused.length + beaten.size,
    isSuspendedNow,
    tenures: held.length + decision.unseen.length,
  };
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
    select reported.iccid, ${nodeId}, reported.slot, reported.device_id, reported.state, reported.operator, reported.signal_dbm,
      reported.model, reported.usb_path, reported.reason, reported.storage_used, reported.storage_total,
      case when reported.swept_at > ${now}::timestamptz then ${now}::timestamptz else reported.swept_at end, ${now}::timestamptz
    from unnest(${column('iccid')}::text[], ${column('slot')}::text[], ${column('device_id')}::text[],
      ${column('state')}::text[], ${column('operator')}::text[], ${column('signal_dbm')}::integer[],
      ${column('model')}::text[], ${column('usb_path')}::text[], ${column('reason')}::text[],
      ${storages.map((storage) => storage?.used ?? null)}::integer[],
      ${storages.map((storage) => storage?.total ?? null)}::integer[], ${column('swept_at')}::timestamptz[])
      as reported (iccid, slot, device_id, state, operator, signal_dbm, model, usb_path, reason, storage_used,
        storage_total, swept_at)
    on conflict (iccid) do update set
      node_id = excluded.node_id, slot = excluded.slot, device_id = excluded.device_id,
      state = excluded.state, operator = coalesce(excluded.operator, sims.operator), signal_dbm = excluded.signal_dbm,
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
  voice_settings: slot.voice_settings ? storableSettings(slot.voice_settings) : null,
});

const storableSettings = ({ network, state, why, detail }: VoiceSettings): VoiceSettings => ({
  network: storableText(network),
  state,
  why: storableOrNull(why),
  detail: storableOrNull(detail),
});

const storableOrNull = (text: string | null): string | null => (text === null ? null : storableText(text));

/** A number that another SIM has stays with it. Unless that is proven, the number is not sold. */
async function introduceNumbers(
  db: DatabaseTransaction,
  nodeId: string,
  held: readonly SimSlot[],
  { now, admitsNew }: { now: Date; admitsNew: boolean },
): Promise<Pick<SlotChange, 'conflicts' | 'unsellable'>> {
  const reported = held.flatMap(({ iccid, number }) => (number === null ? [] : [{ iccid, number }]));
  if (reported.length === 0) return { conflicts: [], unsellable: [] };
  const numbers = reported.map(({ number }) => number);
  const known = async (): Promise<Map<string, string>> => {
    const rows = await db
      .selectFrom('numbers')
      .select(['number', 'iccid'])
      .where('number', '=', anyOf(numbers))
      .execute();
    return new Map(rows.map(({ number, iccid }) => [number, iccid]));
  };
  let owners = await known();
  const fresh = reported.filter(({ number }) => !owners.has(number));
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
  await dropOldRivals(db, reported);
  const foreign = reported.filter(({ number, iccid }) => owners.has(number) && owners.get(number) !== iccid);
  if (foreign.length > 0) await disputeNumbers(db, nodeId, foreign, now);
  const unsellable = fresh.filter(({ number }) => !isSellable(number)).map(({ iccid }) => iccid);
  const isUnsellable = new Set(unsellable);
  return {
    unsellable,
    conflicts: reported.filter(
      ({ number, iccid }) => !isUnsellable.has(iccid) && owners.get(number) !== iccid,
    ),
  };
}

/** The slot that holds the SIM of a number, and the subscription that its node confirmed for it; undefined when no node reports the SIM. */
export async function locateNumber(
  db: Database,
  number: string,
): Promise<
  { iccid: string; nodeId: string; slot: string; carrier: string | null; boundTo: string | null } | undefined
> {
  return db
    .selectFrom('numbers')
    .innerJoin('sims', 'sims.iccid', 'numbers.iccid')
    .select([
      'numbers.iccid',
      'sims.node_id as nodeId',
      'sims.slot',
      'sims.operator as carrier',
      'sims.bound_to as boundTo',
    ])
    .where('numbers.number', '=', number)
    .executeTakeFirst();
}

/** The slot that a SIM is, or was last, in; undefined for an unknown SIM. */
export async function slotOfSim(
  db: Database,
  iccid: string,
): Promise<{ nodeId: string; slot: string } | undefined> {
  return db
    .selectFrom('sims')
    .select(['node_id as nodeId', 'slot'])
    .where('iccid', '=', iccid)
    .executeTakeFirst();
}

/** A subscription that waits for the node to confirm its SIM, and the slot of that SIM. */
interface Unbound {
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
