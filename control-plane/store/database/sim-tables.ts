// Kysely types of the tables for SIM tenures and refused claims.
import type { ColumnType, Generated } from 'kysely';
import type { Fact } from '#shared/link/messages.ts';
import type { VoiceSettings } from '#shared/link/slot.ts';
import type { Earned } from '../../domain/month-totals.ts';
import type { RefusalCause, Sighting } from '../../domain/sim-claim.ts';

/** Which node holds a SIM and which nodes held it before: the newest few per SIM. */
interface SimTenuresTable {
  id: Generated<number>;
  iccid: string;
  node_id: string;
  /** The slot in which the SIM was last seen. */
  slot: string;
  since: Date;
  /** Null while the node holds it. */
  until: ColumnType<Date | null, undefined, Date | null>;
  sighting: Sighting;
  sighting_since: Date;
  /** The previous node, if it had not released the SIM. Null once the holder has reported the SIM for a while. */
  taken_from: string | null;
  /** The holder before, if this node had never held the SIM and no operator decided it. */
  moved_from: ColumnType<string | null, string | null | undefined, string | null>;
}

/** SIMs that a node reports but another node holds. */
interface SimClaimsTable {
  node_id: string;
  iccid: string;
  slot: string;
  cause: RefusalCause;
  since: Date;
  /** Since when the holder reports the SIM as well; kept for a day. */
  contested_since: Date | null;
  seen_at: Date;
}

/**
 * `claims`: claims of SIMs that other nodes hold. `facts`: texts, reports and ended calls of SIMs that the node does not hold. `calls`:
 * live calls of such SIMs. `numbers`: numbers that are not US mobile numbers, or belong to another SIM. `frames`: frames beyond the node's
 * budget, which were read late. `reports`: reports of slots that waited, because those before had changed too much.
 */
export const NODE_REFUSALS = ['claims', 'facts', 'calls', 'numbers', 'frames', 'reports'] as const;
export type NodeRefusal = (typeof NODE_REFUSALS)[number];

interface NodeRefusalsTable {
  node_id: string;
  reason: NodeRefusal;
  count: number;
  last_at: Date;
}

/** Facts of SIMs that their node does not hold. They count if the node becomes the holder in time. */
interface WaitingFactsTable {
  fact_key: string;
  position: Generated<number>;
  node_id: string;
  iccid: string;
  fact: ColumnType<Fact, string, never>;
  received_at: Date;
}

/** Slots of each node's last report, with or without a SIM. */
interface SlotsTable {
  node_id: string;
  slot: string;
  state: string;
  /** Why the slot is not in service. */
  reason: string | null;
  /** The reported SIM, even if the node does not hold it. */
  iccid: string | null;
  /** As the node reports it. */
  voice_settings: VoiceSettings | null;
}

/** `untried`: no node has the PIN. `sent`: a node got it, with an unknown result. `right`, `wrong`: the card's answer. */
export type PinState = 'untried' | 'sent' | 'right' | 'wrong';

/** A SIM card as the fleet file describes it. */
interface CardsTable {
  iccid: string;
  label: string | null;
  /** The carrier that bills the card, in the operator's words. */
  carrier: string | null;
  plan: string | null;
  /** The last day of the plan. */
  plan_expires: ColumnType<Date | null, string | null, string | null>;
  /** Dollars, with two digits after the point. */
  monthly_cost: string | null;
  /** Sealed with the key file of the service. */
  pin: string | null;
  pin_state: PinState | null;
  /** The node that last got the PIN. */
  pin_node: string | null;
  pin_sent_at: Date | null;
  /** Why the card stayed locked, as the node reports it. */
  pin_reason: string | null;
  updated_at: Date;
}

/** Cost and earnings of a SIM in a month. */
interface SimMonthsTable {
  month: ColumnType<Date, string, never>;
  iccid: string;
  number: string | null;
  label: string | null;
  node_id: string | null;
  carrier: string | null;
  plan: string | null;
  cost: string | null;
  earned: ColumnType<Earned[], string, string>;
  is_sold: boolean;
}

/** Earnings of deleted subscriptions in the month of their end, in the smallest unit. */
interface EndedEarningsTable {
  month: ColumnType<Date, string, never>;
  number: string;
  chain_id: number;
  asset: string;
  value: string;
}

export interface SimTables {
  cards: CardsTable;
  ended_earnings: EndedEarningsTable;
  sim_months: SimMonthsTable;
  slots: SlotsTable;
  sim_tenures: SimTenuresTable;
  sim_claims: SimClaimsTable;
  node_refusals: NodeRefusalsTable;
  waiting_facts: WaitingFactsTable;
}
