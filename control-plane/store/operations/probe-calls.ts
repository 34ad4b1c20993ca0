// Calls of delivery probes: they belong to no subscription, even if the number was sold a moment ago.
import type { CallDirection } from '#shared/voice/call.ts';
import { isTolerablySame } from '../../domain/probe-text.ts';
import type { Database } from '../database/database.ts';
import { holderOfSim } from '../fleet/holdings.ts';

interface OwnedCall {
  callId: string;
  iccid: string;
  direction: CallDirection;
  peer: string | null;
}

/** A call rings within this time after it was dialed. */
const RINGS_WITHIN_MS = 90_000;
const CLOCK_ERROR_MAX_MS = 5_000;

/** The number of a SIM and the subscription that a call belongs to: the number's holder, or none if the call is a probe. */
export async function ownerOfCall(
  db: Database,
  call: OwnedCall,
  startedAt: Date,
): Promise<{ number: string | null; subscriptionId: string | null }> {
  const holder = await holderOfSim(db, call.iccid, startedAt);
  const isProbe = holder.subscriptionId !== null && (await isOfProbe(db, call, startedAt));
  return isProbe ? { ...holder, subscriptionId: null } : holder;
}

async function isOfProbe(
  db: Database,
  { callId, iccid, direction, peer }: OwnedCall,
  startedAt: Date,
): Promise<boolean> {
  if (direction === 'outbound') {
    const row = await db.selectFrom('probes').select('id').where('id', '=', callId).executeTakeFirst();
    return row !== undefined;
  }
  const near = (ms: number): Date => new Date(startedAt.getTime() + ms);
  const rows = await db
    .selectFrom('probes')
    .select('from_number')
    .where('kind', '=', 'call')
    .where('to_iccid', '=', iccid)
    .where('started_at', '>', near(-RINGS_WITHIN_MS - CLOCK_ERROR_MAX_MS))
    .where('started_at', '<', near(CLOCK_ERROR_MAX_MS))
    .execute();
  return rows.some(({ from_number: from }) => peer === null || isTolerablySame(peer, from));
}
