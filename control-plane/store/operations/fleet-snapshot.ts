// Nodes, slots, payments and the pool at one moment, as alerts look at them.
import { sql } from 'kysely';
import type { SlotState } from '#shared/link/messages.ts';
import type { DatabaseTransaction } from '../database/database.ts';
import { countAvailable } from '../fleet/number-pool.ts';
import { SLOTS } from '../fleet/slots.ts';
import { listPayments } from '../money/payment-list.ts';

/** How things are, as the store and the chains told it last. */
export interface FleetSnapshot {
  now: Date;
  /** Enrolled and not revoked. */
  nodes: readonly NodeReading[];
  slots: readonly SlotReading[];
  payments: {
    stuck: ReadonlyArray<{ id: string; state: string; since: Date; isPaid: boolean }>;
    /** There are more than these. */
    isCut: boolean;
  };
  /** Numbers that can be sold now. */
  available: number;
  /** By chain, transfers that the relayer has gas for; undefined where nobody could read it lately. */
  gas: ReadonlyMap<number, number | undefined>;
  /** Chains on which nothing is sold, as this instance sees them. */
  closedChains: readonly ClosedChain[];
}

export interface ClosedChain {
  chainId: number;
  reason: 'unreachable' | 'misconfigured';
  since: Date;
}

export interface NodeReading {
  id: string;
  isLinked: boolean;
  /** Facts that wait for an acknowledgement; null where the node does not tell. */
  journalDepth: number | null;
  claims: {
    /** SIMs that it reports and that other nodes hold, or shall hold first. */
    sims: number;
    /** Numbers of its SIMs that SIMs of other nodes report, too, and nobody has proven. */
    disputed: number;
    /** Facts and calls of SIMs that it does not hold, ever; 0 where the last is long ago. */
    others: number;
    /** It takes no new SIM until an operator approves it. */
    isSuspended: boolean;
  };
}

export interface SlotReading {
  nodeId: string;
  slot: string;
  state: SlotState;
  reason: string | null;
  /** Places of the message storage; null where the node does not tell. */
  storage: { used: number; total: number } | null;
}

const PAYMENTS_MAX = 500;

/** What a node claimed in vain is trouble for so long. */
const CLAIM_TROUBLE_MS = 60 * 60_000;

export async function readFleet(
  trx: DatabaseTransaction,
  now: Date,
): Promise<Omit<FleetSnapshot, 'gas' | 'closedChains'>> {
  const stuck = await listPayments(trx, { isStuck: true, limit: PAYMENTS_MAX }, now);
  return {
    now,
    nodes: await readNodes(trx, now),
    slots: await readSlots(trx),
    payments: {
      stuck: stuck
        .slice(0, PAYMENTS_MAX)
        .map(({ id, state, since, transfer_hash }) => ({ id, state, since, isPaid: transfer_hash !== null })),
      isCut: stuck.length > PAYMENTS_MAX,
    },
    available: await countAvailable(trx, now),
  };
}

/**
 * What waits for approval and has no SIM was never in service, or is not any more. One with SIMs is as far away as before
 * its new key.
 */
async function readNodes(trx: DatabaseTransaction, now: Date): Promise<NodeReading[]> {
  const since = new Date(now.getTime() - CLAIM_TROUBLE_MS);
  const { rows } = await sql<Omit<NodeReading, 'claims'> & NodeReading['claims']>`
    select id, coalesce(link_alive_until > ${now}::timestamptz, false) as "isLinked", journal_depth as "journalDepth",
      claims_suspended_at is not null as "isSuspended",
      (select count(*)::int from sim_claims where node_id = nodes.id and seen_at > ${since}::timestamptz) as sims,
      (select count(*)::int from (
        select iccid from number_rivals union
        select iccid from numbers where retired_at is null and number in (select number from number_rivals)
      ) as disputing join sim_tenures on sim_tenures.iccid = disputing.iccid and until is null
        and node_id = nodes.id) as disputed,
      (select coalesce(sum(count), 0)::int from node_refusals where node_id = nodes.id
        and reason in ('facts', 'calls') and last_at > ${since}::timestamptz) as others
    from nodes where enrolled_at is not null and revoked_at is null and (
      approval_pending_since is null or exists (select from sims where sims.node_id = nodes.id))`.execute(
    trx,
  );
  return rows.map(({ id, isLinked, journalDepth, ...claims }) => ({ id, isLinked, journalDepth, claims }));
}

/** But for those that an operator took out of service. */
async function readSlots(trx: DatabaseTransaction): Promise<SlotReading[]> {
  const { rows } = await sql<Omit<SlotReading, 'storage'> & { used: number | null; total: number | null }>`
    select node as "nodeId", slot, state, trouble as reason, storage_used as used, storage_total as total
    from (${SLOTS}) as slots where is_reported and by is distinct from 'operator'`.execute(trx);
  return rows.map(({ used, total, ...slot }) => ({
    ...slot,
    storage: used === null || total === null ? null : { used, total },
  }));
}
