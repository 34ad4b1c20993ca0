// Counts by state for an operator's graphs.
import { type RawBuilder, sql } from 'kysely';
import { slotStateSchema } from '#shared/link/slot.ts';
import { SERVICE_STATES } from '#shared/operator/slot-health.ts';
import { NUMBER_STATES } from '../../domain/number-state.ts';
import type { Inventory, InventoryStates } from '../../metrics/inventory-metrics.ts';
import { PAYMENT_STATES } from '../../payments/payment.ts';
import type { Database } from '../database/database.ts';
import { countNumbers } from '../fleet/numbers.ts';
import { REPORTED_SLOTS } from '../fleet/slots.ts';
import { soldNumberStates } from '../fleet/sold-numbers.ts';
import { countPayments } from '../money/payments.ts';

/** The state of a slot whose node is not linked: unknown. */
const AWAY = 'node_away';

export const INVENTORY_STATES: InventoryStates = {
  payments: PAYMENT_STATES,
  numbers: NUMBER_STATES,
  // An expired subscription keeps its number until its grace period is over.
  subscriptions: ['active', 'expired'],
  soldNumbers: SERVICE_STATES,
  nodes: ['linked', 'away', 'pending', 'revoked', 'not_enrolled'],
  modems: [...slotStateSchema.options, AWAY],
  waitlist: ['waiting', 'notified', 'refused'],
};

export async function takeInventory(db: Database, now: Date): Promise<Inventory> {
  const [payments, numbers, subscriptions, soldNumbers, nodes, modems, waitlist] = await Promise.all([
    countPayments(db),
    countNumbers(db, now),
    countByState(db, subscriptionStates(now)),
    countByState(db, soldNumberStates(now)),
    countByState(db, nodeStates(now)),
    countByState(db, modemStates(now)),
    countByState(db, WAITLIST_STATES),
  ]);
  return { payments, numbers, subscriptions, soldNumbers, nodes, modems, waitlist };
}

/** `states`: a statement that returns rows of a `state` and a `count`. */
async function countByState(db: Database, states: RawBuilder<StateCount>): Promise<Map<string, number>> {
  const { rows } = await states.execute(db);
  return new Map(rows.map(({ state, count }) => [state, count]));
}

interface StateCount {
  state: string;
  count: number;
}

const subscriptionStates = (now: Date) => sql<StateCount>`
  select case when expires_at <= ${now}::timestamptz then 'expired' else 'active' end as state, count(*)::int as count
  from subscriptions group by 1`;

const nodeStates = (now: Date) => sql<StateCount>`
  select case when revoked_at is not null then 'revoked'
    when enrolled_at is null then 'not_enrolled'
    when approval_pending_since is not null then 'pending'
    when link_alive_until > ${now}::timestamptz then 'linked'
    else 'away' end as state, count(*)::int as count
  from nodes group by 1`;

const modemStates = (now: Date) => sql<StateCount>`
  select case when nodes.link_alive_until > ${now}::timestamptz and revoked_at is null then reported.state
    else ${AWAY} end as state, count(*)::int as count
  from (${REPORTED_SLOTS}) as reported join nodes on nodes.id = reported.node group by 1`;

const WAITLIST_STATES = sql<StateCount>`select state, count(*)::int as count from waitlist group by state`;
