// The end of a call by request: handed to the node, and reported by presence when the network confirms it.
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { NodeUnavailable } from '../nodes/fleet.ts';
import { CommandRefused } from '../nodes/pending-commands.ts';
import type { Database } from '../store/database/database.ts';
import { deviceOfSim } from '../store/fleet/sims.ts';
import { findCall } from '../store/messages/calls.ts';
import type { LiveCalls } from './live-calls.ts';

/**
 * Has the node end the call, or reject it while it rings; returns the IMEI of the modem that has it, or where that is
 * not known the name of its slot. Throws `Refusal` `call_not_found` and `phone_node_error`, both with `call_id`.
 */
export async function hangUp(
  { db, live }: { db: Database; live: LiveCalls },
  subscription: Subscription,
  callId: string,
): Promise<string> {
  const session = live.find(callId, subscription.id);
  if (session === undefined) {
    const known = await findCall(db, callId, subscription.id);
    if (known === undefined || known.state === 'ended') throw notFound(callId);
    throw nodeError(callId, 'the phone node is offline');
  }
  const deviceId = await deviceOfSim(db, session.call.iccid);
  try {
    await session.hangUp();
  } catch (error) {
    if (error instanceof CommandRefused && error.code === 'call_unknown') throw notFound(callId);
    if (!(error instanceof CommandRefused) && !(error instanceof NodeUnavailable)) throw error;
    // Asked for once is asked for: it is tried again until the call has ended.
    session.dismiss('local_hangup');
    throw nodeError(callId, `the phone node did not acknowledge: ${error.message}`);
  }
  return deviceId ?? session.call.nodeId;
}

const notFound = (callId: string): Refusal =>
  new Refusal('call_not_found', 'there is no such call, or it has ended', { details: { call_id: callId } });

const nodeError = (callId: string, message: string): Refusal =>
  new Refusal('phone_node_error', message, { details: { call_id: callId } });
