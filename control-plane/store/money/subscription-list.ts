// Subscriptions as operators see them.
import { sql } from 'kysely';
import type { ServiceState } from '#shared/operator/slot-health.ts';
import type { SubscriptionState } from '../../domain/subscription.ts';
import type { Database } from '../database/database.ts';
import { SERVICE_ROWS } from '../fleet/sold-numbers.ts';

interface SubscriptionQuery {
  id?: string | undefined;
  state?: SubscriptionState | undefined;
  wallet?: string | undefined;
  number?: string | undefined;
  /** That serves the number. */
  node?: string | undefined;
  /** The last id of the previous page. */
  after?: string | undefined;
  limit: number;
}

export interface SubscriptionRow {
  id: string;
  number: string;
  wallet: string;
  created_at: Date;
  expires_at: Date;
  /** Of its number. */
  service: ServiceState;
  /** Why its number has no service, as the node reports it. */
  reason: string | null;
  /** Where its SIM is, or was last. */
  node: string | null;
  slot: string | null;
}

/** Newest first; one more than `limit` when there are more. */
export async function listSubscriptions(
  db: Database,
  { id, state, wallet, number, node, after, limit }: SubscriptionQuery,
  now: Date,
): Promise<SubscriptionRow[]> {
  let query = db
    .selectFrom('subscriptions')
    .innerJoin(SERVICE_ROWS(now).as('service'), 'service.subscription_id', 'subscriptions.id')
    .select(['id', 'number', 'wallet', 'created_at', 'expires_at'])
    .select(['service.state as service', 'service.reason', 'service.node', 'service.slot']);
  if (id !== undefined) query = query.where('subscriptions.id', '=', id);
  if (state !== undefined) query = query.where('expires_at', state === 'expired' ? '<=' : '>', now);
  if (state === 'down') query = query.where('service.state', '<>', 'registered');
  if (wallet !== undefined) query = query.where('wallet', '=', wallet.toLowerCase());
  if (number !== undefined) query = query.where('number', '=', number);
  if (node !== undefined) query = query.where('service.node', '=', node);
  if (after !== undefined) {
    // Two values, and not a row of a subquery: only then an index leads to the page.
    query = query.where(
      sql<boolean>`(subscriptions.created_at, subscriptions.id) < ((select created_at from subscriptions where id = ${after}), ${after})`,
    );
  }
  return query
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute();
}
