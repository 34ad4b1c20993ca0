// How calls end: as their node reports, or without it. A call ends once.
import { sql } from 'kysely';
import type { CallEnded } from '#shared/voice/call.ts';
import type { EndReason } from '#shared/voice/release-cause.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { reportedTime } from '../database/reported-values.ts';
import { addRefusals } from '../fleet/node-refusals.ts';
import { ownerOfCall } from '../operations/probe-calls.ts';
import { CALL_COLUMNS, type CallRow, type EndedCall, toValues } from './calls.ts';
import { isSameCall } from './same-call.ts';
import { makeRoomForUnsold } from './unsold-calls.ts';

/**
 * Ends a call as its node reports, even a call that was unknown; a repeated report changes nothing. `end`: if it is the first one.
 * `isCustomers`: the call belongs to a subscription. Undefined if this node has reported the end before, or has no such call. A fact about
 * another SIM or far end than the call has is refused: the node may have lost the SIM of the call, and hold the other one.
 */
export async function endCall(
  trx: DatabaseTransaction,
  nodeId: string,
  fact: CallEnded,
  now: Date,
): Promise<{ end: EndedCall | undefined; isCustomers: boolean } | undefined> {
  const known =
    (await lockCall(trx, fact.call_id)) ??
    (await insertMissed(trx, await missedCall(trx, nodeId, fact, reportedTime(fact.started_at, now)), now));
  if (known === undefined || known.ended_by_node || known.nodeId !== nodeId) return undefined;
  if (!isSameCall(known, fact)) {
    await addRefusals(trx, { nodeId, reason: 'calls', count: 1 }, now);
    return undefined;
  }
  const { state, ended_by_node: _, seen_at: seenAt, ...call } = known;
  const answeredAt = fact.answered_at === null ? call.answeredAt : reportedTime(fact.answered_at, now);
  const endedAt = reportedTime(fact.ended_at, now);
  const { reason, cause } = fact;
  await trx
    .updateTable('calls')
    .set({
      state: 'ended',
      answered_at: answeredAt,
      ended_at: endedAt,
      reason,
      cause,
      audio: fact.audio === null ? null : JSON.stringify(fact.audio),
      ended_by_node: true,
      seen_at: state === 'ended' ? seenAt : now,
    })
    .where('id', '=', fact.call_id)
    .execute();
  const end = state === 'ended' ? undefined : { ...call, answeredAt, endedAt, reason, cause };
  return { end, isCustomers: call.subscriptionId !== null };
}

const lockCall = (trx: DatabaseTransaction, callId: string) =>
  trx
    .selectFrom('calls')
    .select([...CALL_COLUMNS, 'ended_by_node', 'seen_at'])
    .where('id', '=', callId)
    .forUpdate()
    .executeTakeFirst();

/** Another instance may record it at the same moment. */
async function insertMissed(trx: DatabaseTransaction, call: CallRow, now: Date) {
  if (call.subscriptionId === null) await makeRoomForUnsold(trx, call.iccid);
  await trx
    .insertInto('calls')
    .values(toValues(call, now))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  return lockCall(trx, call.callId);
}

async function missedCall(
  trx: DatabaseTransaction,
  nodeId: string,
  { call_id: callId, iccid, direction, peer }: CallEnded,
  startedAt: Date,
): Promise<CallRow> {
  const owner = await ownerOfCall(trx, { callId, iccid, direction, peer }, startedAt);
  const call = { callId, iccid, nodeId, direction, peer, ...owner };
  return { ...call, state: 'ringing', startedAt, answeredAt: null, answeredBy: null };
}

/**
 * Ends a call that its node no longer reports; a later report of the node corrects that. It ends when it was last known to be up: `upAt`, or
 * later as recorded. Undefined when the call has ended already.
 */
export async function endLostCall(
  db: Database,
  callId: string,
  { reason, cause, upAt, now }: { reason: EndReason; cause: number; upAt: Date | undefined; now: Date },
): Promise<EndedCall | undefined> {
  const row = await db
    .updateTable('calls')
    .set({
      state: 'ended',
      reason,
      cause,
      // The node's clock, which gave the time of the answer, may be ahead. `greatest` ignores nulls.
      ended_at: sql<Date>`least(${now}::timestamptz, greatest(up_at, answered_at, ${upAt ?? null}::timestamptz))`,
      seen_at: now,
    })
    .where('id', '=', callId)
    .where('state', '<>', 'ended')
    .returning([...CALL_COLUMNS, 'ended_at as endedAt'])
    .executeTakeFirst();
  return row && { ...row, endedAt: row.endedAt ?? now, reason, cause };
}
