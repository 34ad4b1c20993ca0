// Ends a call on request: the node gets the command, and presence reports the end when the network confirms it.
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { CommandRefused, NodeUnavailable } from '../nodes/node-link.ts';
import type { Database } from '../store/database/database.ts';
import { deviceOfSim } from '../store/fleet/sims.ts';
import type { LiveCalls } from './live-calls.ts';

/**
 * Asks the node to end the call, or to reject it while it rings. Returns the IMEI of its modem, or the name of its slot if the IMEI is not
 * known. Throws `Refusal` `call_not_found` and `phone_node_error`, both with `call_id`.
 */
export async function hangUp(
  { db, live }: { db: Database; live: LiveCalls },
  subscription: Subscription,
  callId: string,
): Promise<string> {
  const session = await live.open(callId, subscription.id);
  if (session === undefined) throw notFound(callId);
  const deviceId = await deviceOfSim(db, session.call.iccid);
  try {
    await session.hangUp();
  } catch (error) {
    if (error instanceof CommandRefused && error.code === 'call_unknown') throw notFound(callId);
    if (!(error instanceof CommandRefused) && !(error instanceof NodeUnavailable)) throw error;
    // The request stands: it is retried until the call has ended.
    session.dismiss('local_hangup');
    throw nodeError(callId, `the phone node did not acknowledge: ${error.message}`);
  }
  return deviceId ?? session.call.nodeId;
}

const notFound = (callId: string): Refusal =>
  new Refusal('call_not_found', 'The call does not exist or has ended.', { details: { call_id: callId } });

const nodeError = (callId: string, message: string): Refusal =>
  new Refusal('phone_node_error', message, { details: { call_id: callId } });
