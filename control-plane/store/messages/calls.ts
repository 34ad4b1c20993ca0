// Calls from their first sign on. The state of a row only advances.
import { sql } from 'kysely';
import type { Answerer, AskedAnswerer, CallDirection, LiveCallState } from '#shared/voice/call.ts';
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { Database } from '../database/database.ts';
import { anyOf } from '../database/lists.ts';
import type { CallsTable, StreamStatistics } from '../database/tables.ts';

/** A call that is up or being set up. */
export interface CallRow {
  callId: string;
  subscriptionId: string | null;
  /** Null for a SIM whose number is not known. */
  number: string | null;
  iccid: string;
  nodeId: string;
  direction: CallDirection;
  /** Null if it is withheld. */
  peer: string | null;
  state: LiveCallState;
  startedAt: Date;
  answeredAt: Date | null;
  /** Whether a person or a machine answered; null if the client did not ask. */
  answeredBy: AskedAnswerer | null;
}

/** The end of a call, for its client. */
export interface EndedCall extends Omit<CallRow, 'state'> {
  endedAt: Date;
  reason: EndReason;
  cause: number;
}

export const toValues = (call: CallRow, now: Date) => ({
  id: call.callId,
  // The subscription may have been purged since.
  subscription_id: sql<string | null>`(select id from subscriptions where id = ${call.subscriptionId})`,
  number: call.number,
  iccid: call.iccid,
  node_id: call.nodeId,
  direction: call.direction,
  peer: call.peer,
  state: call.state,
  started_at: call.startedAt,
  answered_at: call.answeredAt,
  answered_by: call.answeredBy,
  up_at: now,
  seen_at: now,
});

/** Records a call, or its progress. A call that has ended, or belongs to another node, stays as it is: returns false then. */
export async function putCall(db: Database, call: CallRow, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('calls')
    .values(toValues(call, now))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({
          state: call.state,
          answered_at: sql<Date | null>`coalesce(calls.answered_at, excluded.answered_at)`,
          up_at: now,
          seen_at: now,
        })
        .where('calls.state', '<>', 'ended')
        .where('calls.node_id', '=', call.nodeId),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Records who answered a live call, once. Undefined if it has ended, or that is recorded already. */
export async function setAnsweredBy(
  db: Database,
  callId: string,
  answeredBy: Answerer,
  now: Date,
): Promise<CallRow | undefined> {
  return db
    .updateTable('calls')
    .set({ answered_by: answeredBy, seen_at: now })
    .where('id', '=', callId)
    .where('answered_by', '=', 'undecided')
    .where('state', '<>', 'ended')
    .returning(CALL_COLUMNS)
    .$narrowType<{ state: LiveCallState }>()
    .executeTakeFirst();
}

/** Deletes a call that was never dialed. */
export async function deleteUntriedCall(db: Database, callId: string): Promise<void> {
  await db.deleteFrom('calls').where('id', '=', callId).where('state', '=', 'dialing').execute();
}

/** The subscription of a live call of this node, as recorded when it began; undefined when the call is not recorded, or has ended. */
export async function findLiveCall(
  db: Database,
  callId: string,
  nodeId: string,
): Promise<
  Pick<CallRow, 'number' | 'subscriptionId' | 'iccid' | 'direction' | 'peer' | 'answeredBy'> | undefined
> {
  return db
    .selectFrom('calls')
    .select([
      'number',
      'subscription_id as subscriptionId',
      'iccid',
      'direction',
      'peer',
      'answered_by as answeredBy',
    ])
    .where('id', '=', callId)
    .where('node_id', '=', nodeId)
    .where('state', '<>', 'ended')
    .executeTakeFirst();
}

/** A call that has not ended. */
export async function findOpenCall(db: Database, callId: string): Promise<CallRow | undefined> {
  return db
    .selectFrom('calls')
    .select(CALL_COLUMNS)
    .where('id', '=', callId)
    .where('state', '<>', 'ended')
    .$narrowType<{ state: LiveCallState }>()
    .executeTakeFirst();
}

/** The newest call of the subscription on this SIM that has not ended. */
export async function findOpenCallOfSim(
  db: Database,
  iccid: string,
  subscriptionId: string | null,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('calls')
    .select('id')
    .where('iccid', '=', iccid)
    .where('subscription_id', '=', subscriptionId)
    .where('state', '<>', 'ended')
    .orderBy('position', 'desc')
    .executeTakeFirst();
  return row?.id;
}

/** How far these calls have come. */
export async function findCallStates(
  db: Database,
  callIds: readonly string[],
): Promise<Array<Pick<CallRow, 'callId' | 'answeredAt'> & Pick<CallsTable, 'state' | 'cause'>>> {
  if (callIds.length === 0) return [];
  return db
    .selectFrom('calls')
    .select(['id as callId', 'state', 'cause', 'answered_at as answeredAt'])
    .where('id', '=', anyOf(callIds))
    .execute();
}

/** Inbound calls that ring at `now`; a few at most. */
export async function findRinging(db: Database, subscriptionId: string, now: Date): Promise<CallRow[]> {
  return db
    .selectFrom('calls')
    .select(CALL_COLUMNS)
    .where('subscription_id', '=', subscriptionId)
    .where('state', '=', 'ringing')
    .where('direction', '=', 'inbound')
    .where('seen_at', '>', new Date(now.getTime() - RINGING_SEEN_MS))
    .orderBy('position')
    .limit(RINGING_MAX)
    .$narrowType<{ state: LiveCallState }>()
    .execute();
}

const RINGING_MAX = 16;
/** Each round of housekeeping refreshes the record of a ringing call. */
const RINGING_SEEN_MS = 3 * 60_000;

/** Calls of these subscriptions that have begun, advanced or ended since `since`. */
export async function findCallsSince(
  db: Database,
  subscriptionIds: readonly string[],
  since: Date,
): Promise<{ open: CallRow[]; ended: EndedCall[] }> {
  if (subscriptionIds.length === 0) return { open: [], ended: [] };
  const rows = await db
    .selectFrom('calls')
    .select([...CALL_COLUMNS, 'ended_at as endedAt', 'reason', 'cause'])
    // With the state, an index leads to recent calls, and not to all calls of a long list of subscriptions.
    .where('state', 'in', CALL_STATES)
    // Rows, not an array: to estimate an array of 10,000 takes the planner 30 ms.
    .where('subscription_id', 'in', sql<string>`(select unnest(${subscriptionIds}::text[]))`)
    .where('seen_at', '>', since)
    .orderBy('position')
    .execute();
  const found: { open: CallRow[]; ended: EndedCall[] } = { open: [], ended: [] };
  for (const { state, endedAt, reason, cause, ...call } of rows) {
    if (state !== 'ended') found.open.push({ ...call, state });
    else if (endedAt !== null && reason !== null && cause !== null)
      found.ended.push({ ...call, endedAt, reason, cause });
  }
  return found;
}

const CALL_STATES = ['dialing', 'ringing', 'active', 'ended'] as const;
const LIVE_STATES = ['dialing', 'ringing', 'active'] as const;

/** Those of a `CallRow`. */
export const CALL_COLUMNS = [
  'id as callId',
  'subscription_id as subscriptionId',
  'number',
  'iccid',
  'node_id as nodeId',
  'direction',
  'peer',
  'state',
  'started_at as startedAt',
  'answered_at as answeredAt',
  'answered_by as answeredBy',
] as const;

/** Records that an instance still has these calls, and when each was last known to be up. */
export async function vouchForCalls(
  db: Database,
  calls: readonly { callId: string; upAt: Date }[],
  now: Date,
): Promise<void> {
  if (calls.length === 0) return;
  const ids = calls.map(({ callId }) => callId);
  const times = calls.map(({ upAt }) => upAt.toISOString());
  await sql`update calls set seen_at = ${now}, up_at = greatest(calls.up_at, known.up_at)
    from (select unnest(${ids}::text[]) as id, unnest(${times}::text[]::timestamptz[]) as up_at) as known
    where calls.id = known.id`.execute(db);
}

/** Records a sign that a call was up. */
export async function noteCallUp(db: Database, callId: string, upAt: Date): Promise<void> {
  await db
    .updateTable('calls')
    .set({ up_at: sql<Date>`greatest(up_at, ${upAt}::timestamptz)` })
    .where('id', '=', callId)
    .where('state', '<>', 'ended')
    .execute();
}

/**
 * Calls of a node without an end, whichever instance tracks them. Without those that were dialed after `dialedBefore`: the command may still
 * be on its way to the node.
 */
export async function findOpenCallsOfNode(
  db: Database,
  nodeId: string,
  dialedBefore: Date,
): Promise<string[]> {
  const rows = await db
    .selectFrom('calls')
    .select('id')
    .where('state', 'in', LIVE_STATES)
    .where('node_id', '=', nodeId)
    .where((eb) => eb.or([eb('state', '!=', 'dialing'), eb('started_at', '<', dialedBefore)]))
    .limit(OF_NODE_MAX)
    .execute();
  return rows.map(({ id }) => id);
}

/** Larger than any rack. */
const OF_NODE_MAX = 1_000;

/** Calls without an end for which no instance has vouched since `before`. */
export async function findForgottenCalls(db: Database, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('calls')
    .select('id')
    .where('state', 'in', LIVE_STATES)
    .where('seen_at', '<', before)
    .limit(FORGOTTEN_MAX)
    .execute();
  return rows.map(({ id }) => id);
}

/** Limit of one round; the next one continues. */
const FORGOTTEN_MAX = 100;

export async function setStreamStatistics(
  db: Database,
  callId: string,
  statistics: StreamStatistics,
): Promise<void> {
  await db
    .updateTable('calls')
    .set({ stream: JSON.stringify(statistics) })
    .where('id', '=', callId)
    .execute();
}
