// Tables of who holds which SIM, and of what nodes claimed in vain, as Kysely sees them.
import type { ColumnType, Generated } from 'kysely';
import type { Fact } from '#shared/link/messages.ts';
import type { RefusalCause, Sighting } from '../../domain/sim-claim.ts';

/** Which node holds a SIM, and which ones held it before: the newest few of each SIM. */
export interface SimTenuresTable {
  id: Generated<number>;
  iccid: string;
  node_id: string;
  /** Where it was seen last. */
  slot: string;
  since: Date;
  /** Null while the node holds it. */
  until: ColumnType<Date | null, undefined, Date | null>;
  sighting: Sighting;
  sighting_since: Date;
  /** The node that had not let go of it, until the holder has reported the SIM for a while. */
  taken_from: string | null;
}

/** SIMs that a node reports and that another one holds. */
export interface SimClaimsTable {
  node_id: string;
  iccid: string;
  slot: string;
  cause: RefusalCause;
  since: Date;
  /** Since when the holder has reported the SIM, too; kept for a day. */
  contested_since: Date | null;
  seen_at: Date;
}

/**
 * `claims`: of SIMs that others hold; `facts`: texts, reports and ended calls, and `calls`: calls, of SIMs that it does not
 * hold; `numbers`: no US mobile numbers, or another SIM's.
 */
export type NodeRefusal = 'claims' | 'facts' | 'calls' | 'numbers';

export interface NodeRefusalsTable {
  node_id: string;
  reason: NodeRefusal;
  count: number;
  last_at: Date;
}

/** Facts of SIMs that their node does not hold: they count if it comes to hold them in time. */
export interface WaitingFactsTable {
  fact_key: string;
  position: Generated<number>;
  node_id: string;
  iccid: string;
  fact: ColumnType<Fact, string, never>;
  received_at: Date;
}

/** Slots as their node reported them last, with a SIM or without. */
export interface SlotsTable {
  node_id: string;
  slot: string;
  state: string;
  /** Why it is not in service. */
  reason: string | null;
  /** Of the SIM that it reports, also one that the node does not hold. */
  iccid: string | null;
}

export interface SimTables {
  slots: SlotsTable;
  sim_tenures: SimTenuresTable;
  sim_claims: SimClaimsTable;
  node_refusals: NodeRefusalsTable;
  waiting_facts: WaitingFactsTable;
}
