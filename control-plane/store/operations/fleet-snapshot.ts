// Nodes, slots, payments and the pool at one moment, as alerts check them.
import { sql } from 'kysely';
import type { SlotState } from '#shared/link/slot.ts';
import { findLockedCards, type LockedCard } from '../cards/card-pins.ts';
import { findPlanEnds, type PlanEnd } from '../cards/plan-ends.ts';
import type { DatabaseTransaction } from '../database/database.ts';
import { countAvailable } from '../fleet/number-pool.ts';
import { SLOT_ROWS } from '../fleet/slots.ts';
import {
  findDownNumbers,
  findMovedNumbers,
  type MovedNumber,
  type SoldNumber,
} from '../fleet/sold-numbers.ts';
import { listPayments } from '../money/payment-list.ts';
import { countRelayed, type RelayedPayments } from '../money/relayed-payments.ts';
import { findSendingWarnings, type SendingWarning } from './sending-warnings.ts';

/** The last known state of the store and the chains. */
export interface FleetSnapshot {
  now: Date;
  /** Enrolled and not revoked. */
  nodes: readonly NodeReading[];
  /** Nodes that wait for an operator's approval. */
  pending: readonly string[];
  slots: readonly SlotReading[];
  /** Paid numbers without service. */
  down: readonly SoldNumber[];
  /** Sold numbers whose SIMs lately moved to a node that had never held them. */
  moved: readonly MovedNumber[];
  /** Numbers that nearly used a sending limit in the last hour, the least used limit of each first. */
  sending: readonly SendingWarning[];
  /** Locked cards whose PIN the service has. */
  locked: readonly LockedCard[];
  /** Cards whose plan ends soon, or has ended. */
  plans: readonly PlanEnd[];
  payments: {
    stuck: ReadonlyArray<{ id: string; state: string; since: Date; isPaid: boolean }>;
    /** There are more than these. */
    isCut: boolean;
  };
  /** Numbers that can be sold now. */
  available: number;
  /** By chain, transfers that the relayer has gas for; undefined if the balance could not be read recently. */
  gas: ReadonlyMap<number, number | undefined>;
  /** Chains without sales, as this instance sees them. */
  closedChains: readonly ClosedChain[];
  /** Payments in flight that made no progress for a while, by the relayer that sent them. */
  relayed: readonly RelayedPayments[];
  /** Addresses of this instance's relayers in lower case, by chain. */
  relayers: ReadonlyMap<number, readonly string[]>;
}

export interface ClosedChain {
  chainId: number;
  reason: 'unreachable' | 'misconfigured';
  since: Date;
}

export interface NodeReading {
  id: string;
  isLinked: boolean;
  /** SIMs that it holds, also while it has no link. */
  simsHeld: number;
  /** Facts without an acknowledgement; null if the node does not report it. */
  journalDepth: number | null;
  /** Alarms of the whole node, as it reports them. */
  alarms: readonly string[];
  claims: {
    /** SIMs that it reports and that other nodes hold, or must hold first. */
    sims: number;
    /** Numbers of its SIMs that SIMs of other nodes report as well, without proof. */
    disputed: number;
    /** Facts and calls of SIMs that it does not hold, in total; 0 if the last is long ago. */
    others: number;
    /** Frames that were read late, and reports that were stored late; 0 if the last is long ago. */
    late: number;
    /** The node gets no new SIM until an operator approves it. */
    isSuspended: boolean;
  };
}

export interface SlotReading {
  nodeId: string;
  slot: string;
  state: SlotState;
  reason: string | null;
  /** The network of its SIM, or the last one; null without a SIM. */
  carrier: string | null;
  /** Capacity of the message storage; null if the node does not report it. */
  storage: { used: number; total: number } | null;
}

const PAYMENTS_MAX = 500;

/** A relayer's payment in flight is mined, or its fee is raised, in less time. */
const RELAYED_MS = 2 * 60_000;

/** More than a region of nodes that is away. */
const DOWN_MAX = 20_000;

const PLANS_MAX = 10_000;

/** A refused claim is trouble for this long. */
const CLAIM_TROUBLE_MS = 60 * 60_000;

export async function readSnapshot(
  trx: DatabaseTransaction,
  now: Date,
  { planDays }: { planDays: number },
): Promise<Omit<FleetSnapshot, 'gas' | 'closedChains' | 'relayers'>> {
  const stuck = await listPayments(trx, { isStuck: true, limit: PAYMENTS_MAX }, now);
  // Before the nodes: of one report the alarms are stored first, and they explain a storage that fills.
  const slots = await readSlots(trx);
  return {
    now,
    slots,
    nodes: await readNodes(trx, now),
    pending: await readPending(trx),
    down: await findDownNumbers(trx, now, DOWN_MAX),
    moved: await findMovedNumbers(trx, now, DOWN_MAX),
    sending: await findSendingWarnings(trx, now),
    locked: await findLockedCards(trx, now),
    plans: await findPlanEnds(trx, { days: planDays, limit: PLANS_MAX, now }),
    payments: {
      stuck: stuck
        .slice(0, PAYMENTS_MAX)
        .map(({ id, state, since, transfer_hash }) => ({ id, state, since, isPaid: transfer_hash !== null })),
      isCut: stuck.length > PAYMENTS_MAX,
    },
    available: await countAvailable(trx, now),
    relayed: await countRelayed(trx, new Date(now.getTime() - RELAYED_MS)),
  };
}

/** A node that waits for approval and has no SIM is not in service. One with SIMs counts as away, as before its new key. */
async function readNodes(trx: DatabaseTransaction, now: Date): Promise<NodeReading[]> {
  const since = new Date(now.getTime() - CLAIM_TROUBLE_MS);
  const { rows } = await sql<Omit<NodeReading, 'claims'> & NodeReading['claims']>`
    select id, coalesce(link_alive_until > ${now}::timestamptz, false) as "isLinked", journal_depth as "journalDepth", alarms,
      (select count(*)::int from sims where sims.node_id = nodes.id) as "simsHeld",
      claims_suspended_at is not null as "isSuspended",
      (select count(*)::int from sim_claims where node_id = nodes.id and seen_at > ${since}::timestamptz) as sims,
      (select count(*)::int from (
        select iccid from number_rivals union
        select iccid from numbers where retired_at is null and number in (select number from number_rivals)
      ) as disputing join sim_tenures on sim_tenures.iccid = disputing.iccid and until is null
        and node_id = nodes.id) as disputed,
      (select coalesce(sum(count), 0)::int from node_refusals where node_id = nodes.id
        and reason in ('facts', 'calls') and last_at > ${since}::timestamptz) as others,
      (select coalesce(sum(count), 0)::int from node_refusals where node_id = nodes.id
        and reason in ('frames', 'reports') and last_at > ${since}::timestamptz) as late
    from nodes where enrolled_at is not null and revoked_at is null and (
      approval_pending_since is null or exists (select from sims where sims.node_id = nodes.id))`.execute(
    trx,
  );
  return rows.map(({ id, isLinked, simsHeld, journalDepth, alarms, ...claims }) => ({
    id,
    isLinked,
    simsHeld,
    journalDepth,
    alarms,
    claims,
  }));
}

async function readPending(trx: DatabaseTransaction): Promise<string[]> {
  const rows = await trx
    .selectFrom('nodes')
    .select('id')
    .where('approval_pending_since', 'is not', null)
    .where('revoked_at', 'is', null)
    .execute();
  return rows.map(({ id }) => id);
}

/** Without slots that an operator took out of service. */
async function readSlots(trx: DatabaseTransaction): Promise<SlotReading[]> {
  const { rows } = await sql<SlotReading>`
    select node as "nodeId", slot, state, trouble as reason, carrier, storage
    from (${SLOT_ROWS}) as slots where is_reported and by is distinct from 'operator'`.execute(trx);
  return rows;
}
