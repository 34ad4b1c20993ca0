// All nodes and their slots as they are now: SIM, number, subscriber and live call of each slot.
import { sql } from 'kysely';
import type { SlotState, VoiceSettings } from '#shared/link/slot.ts';
import { compareNaturally } from '#shared/natural-order.ts';
import type { CallDirection, LiveCallState } from '#shared/voice/call.ts';
import { keyFingerprint } from '../../domain/shown-value.ts';
import type { Database } from '../database/database.ts';
import { isSwept } from './holdings.ts';
import { type Refusals, readRefusals } from './node-refusals.ts';
import { SLOT_ROWS } from './slots.ts';

/** `pending`: enrolled, and waits for an operator's approval. */
type FleetNodeState = 'linked' | 'away' | 'pending' | 'revoked' | 'not_enrolled';

/**
 * Whether the number of a slot is sold or on sale. The first that applies: `held` or `reserved`, in service or not; `out_of_service`, the
 * number or its slot; `quarantined`; `unadmitted`; `unswept`, not sold until its SIM is swept; `on_sale`; `offline`, its SIM is not on the
 * network or not in a linked node.
 */
type NumberUse =
  | ('held' | 'reserved' | 'out_of_service' | 'quarantined')
  | ('unadmitted' | 'unswept' | 'on_sale' | 'offline');

export interface FleetSlot {
  node: string;
  slot: string;
  /** `journal_unavailable`: only the journal of its node fails. */
  state: SlotState | 'node_away' | 'journal_unavailable';
  /** Why the slot is not in service. */
  reason: string | null;
  carrier: string | null;
  signalDbm: number | null;
  model: string | null;
  usbPath: string | null;
  imei: string | null;
  iccid: string | null;
  /** The operator's name for the card. */
  label: string | null;
  number: string | null;
  use: NumberUse | null;
  /** Why an operator took the number itself out of service; null where it is in service. */
  numberOutReason: string | null;
  wallet: string | null;
  expiresAt: Date | null;
  /** The node has confirmed the SIM for the present subscription. */
  isBound: boolean;
  /** `isCustomers`: not of a probe. */
  call: { direction: CallDirection; state: LiveCallState; isCustomers: boolean } | null;
  /** Set if the slot itself is out of service. */
  outOfService: { by: 'operator' | 'probe'; reason: string; since: Date } | null;
  /** Capacity of the message storage, and how much is used. */
  storage: { used: number; total: number } | null;
  /** Settings for calls, as the modem read them back. */
  voiceSettings: VoiceSettings | null;
  /** When its node last reported the SIM; null for a slot without a SIM. */
  reportedAt: Date | null;
}

export interface FleetNode {
  name: string;
  state: FleetNodeState;
  alarms: string[];
  /** SMS that were not kept: the number had no subscriber when they were sent. */
  unheldMessages: number;
  enrolledAt: Date | null;
  /** Facts in the node's journal; null if the node does not report it. */
  journalDepth: number | null;
  /** Fingerprint of its key, while the node waits for approval: to connect, or to take SIMs again. */
  fingerprint: string | null;
  /** The node gets no further SIMs until it is approved. */
  isSuspended: boolean;
  /** Refused reports of the node, by reason. */
  refused: Refusals;
  slots: FleetSlot[];
}

/** Sorted by name in natural order: m2 before m10. Alarms of a revoked node are left out. */
export async function readFleet(db: Database, now: Date): Promise<FleetNode[]> {
  const [nodes, slots, refusals] = await Promise.all([
    readNodes(db, now),
    readSlots(db, now),
    readRefusals(db),
  ]);
  const byNode = new Map(nodes.map(({ name }) => [name, [] as SlotRow[]]));
  for (const slot of slots) byNode.get(slot.node)?.push(slot);
  return nodes
    .map((node) => ({
      ...node,
      refused: refusals.get(node.name) ?? {},
      slots: (byNode.get(node.name) ?? [])
        .map((slot) => slotOf(slot, node))
        .sort((a, b) => compareNaturally(a.slot, b.slot)),
    }))
    .sort((a, b) => compareNaturally(a.name, b.name));
}

/** A number that is otherwise on sale is not if its slot is out of service or offline. */
function useOf({ outOfService, state, use }: FleetSlot): NumberUse | null {
  if (use !== 'on_sale' && use !== 'unswept') return use;
  if (outOfService !== null) return 'out_of_service';
  return state === 'registered' ? use : 'offline';
}

type NodeRow = Omit<FleetNode, 'slots' | 'refused'>;
type SlotRow = Omit<FleetSlot, 'state' | 'outOfService'> & {
  state: SlotState;
  outBy: 'operator' | 'probe' | null;
  outReason: string | null;
  outSince: Date | null;
};

function slotOf(
  { outBy, outReason, outSince, ...row }: SlotRow,
  node: Pick<NodeRow, 'state' | 'alarms'>,
): FleetSlot {
  const isOut = outBy !== null && outReason !== null && outSince !== null;
  const slot: FleetSlot = {
    ...row,
    state: node.state === 'linked' ? stateOf(row, node) : 'node_away',
    outOfService: isOut ? { by: outBy, reason: outReason, since: outSince } : null,
  };
  return { ...slot, use: useOf(slot) };
}

const stateOf = (
  { state }: Pick<SlotRow, 'state'>,
  { alarms }: Pick<NodeRow, 'alarms'>,
): FleetSlot['state'] =>
  state === 'registered' && alarms.includes('journal_unavailable') ? 'journal_unavailable' : state;

async function readNodes(db: Database, now: Date): Promise<NodeRow[]> {
  const { rows } = await sql<NodeRow & { publicKey: Buffer | null }>`
    select id as name, journal_depth as "journalDepth", public_key as "publicKey", unheld_messages as "unheldMessages", enrolled_at as "enrolledAt",
      claims_suspended_at is not null as "isSuspended",
      case when revoked_at is null then alarms else '{}' end as alarms,
      case when revoked_at is not null then 'revoked' when enrolled_at is null then 'not_enrolled'
        when approval_pending_since is not null then 'pending'
        when link_alive_until > ${now}::timestamptz then 'linked' else 'away' end as state
    from nodes`.execute(db);
  return rows.map(({ publicKey, ...node }) => ({
    ...node,
    fingerprint:
      (node.state === 'pending' || node.isSuspended) && publicKey !== null ? keyFingerprint(publicKey) : null,
  }));
}

async function readSlots(db: Database, now: Date): Promise<SlotRow[]> {
  const { rows } = await sql<SlotRow>`
    select sims.node, sims.slot, sims.state, sims.trouble as reason, sims.carrier, sims.signal_dbm as "signalDbm",
      sims.model, sims.usb_path as "usbPath", sims.device_id as imei, sims.iccid, cards.label, numbers.number,
      subscriptions.wallet, subscriptions.expires_at as "expiresAt", sims.updated_at as "reportedAt",
      coalesce(sims.bound_to = subscriptions.id, false) as "isBound",
      numbers.out_of_service_reason as "numberOutReason",
      sims.storage, sims.voice_settings as "voiceSettings", sims.by as "outBy", sims.reason as "outReason", sims.out_of_service_at as "outSince",
      case when numbers.number is null then null
        when subscriptions.id is not null then 'held' when payments.id is not null then 'reserved'
        when numbers.out_of_service_at is not null then 'out_of_service'
        when numbers.quarantined_until > ${now}::timestamptz then 'quarantined'
        when numbers.unadmitted_since is not null then 'unadmitted'
        when not ${isSwept} then 'unswept' else 'on_sale' end as use,
      case when up.state is not null then json_build_object('direction', up.direction, 'state', up.state,
        'isCustomers', up.subscription_id is not null) end as call
    from (${SLOT_ROWS}) as sims
    join nodes on nodes.id = sims.node and nodes.revoked_at is null
    left join numbers on numbers.iccid = sims.iccid and numbers.retired_at is null
    left join subscriptions on subscriptions.number = numbers.number
    left join payments on payments.reserved_number = numbers.number
    left join cards on cards.iccid = sims.iccid
    left join lateral (
      select direction, state, subscription_id from calls where calls.iccid = sims.iccid and calls.state <> 'ended'
      order by position desc limit 1
    ) as up on true
    where is_reported`.execute(db);
  return rows;
}
