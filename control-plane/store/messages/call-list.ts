// The list of a subscription's calls, newest first.
import { type Selectable, sql } from 'kysely';
import type { CallDirection } from '#shared/voice/call.ts';
import type { Database } from '../database/database.ts';
import type { CallsTable } from '../database/tables.ts';

interface CallQuery {
  subscriptionId: string;
  direction: CallDirection | 'both';
  /** Bounds on `started_at`, both inclusive. */
  since: Date | undefined;
  until: Date | undefined;
  /** Only calls after this one in the order of the list. */
  after: { startedAt: Date; position: number } | undefined;
  limit: number;
}

export type ListedCall = Selectable<CallsTable>;

export async function listCalls(db: Database, query: CallQuery): Promise<ListedCall[]> {
  let select = db
    .selectFrom('calls')
    .selectAll()
    .where('subscription_id', '=', query.subscriptionId)
    .orderBy('started_at', 'desc')
    .orderBy('position', 'desc')
    .limit(query.limit);
  if (query.direction !== 'both') select = select.where('direction', '=', query.direction);
  if (query.since !== undefined) select = select.where('started_at', '>=', query.since);
  if (query.until !== undefined) select = select.where('started_at', '<=', query.until);
  if (query.after !== undefined) {
    const { startedAt, position } = query.after;
    select = select.where(
      sql<boolean>`(started_at, position) < (${startedAt}::timestamptz, ${position}::bigint)`,
    );
  }
  return select.execute();
}
