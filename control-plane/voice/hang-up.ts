// Ends a call on request: the node gets the command, and presence reports the end when the network confirms it.
import { createHmac } from 'node:crypto';
import { asSentence } from '#shared/error-message.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import { isCallUnknown, NodeUnavailable } from '../nodes/node-link.ts';
import type { Database } from '../store/database/database.ts';
import { secretOf } from '../store/database/secrets.ts';
import { slotOfSim } from '../store/fleet/sims.ts';
import { callNotFound } from './call-id.ts';
import type { LiveCalls } from './live-calls.ts';

/**
 * Asks the node to end the call, or to reject it while it rings. Returns an opaque id of its slot. Throws `Refusal` `call_not_found` and `phone_node_error`, both with `call_id`.
 */
export async function hangUp(
  { db, live }: { db: Database; live: LiveCalls },
  subscription: Subscription,
  callId: string,
): Promise<string> {
  const session = await live.open(callId, subscription.id);
  if (session === undefined) throw callNotFound(callId);
  // Before the command: a database that fails afterwards must not deny it.
  const [slot, key] = await Promise.all([slotOfSim(db, session.call.iccid), keyOf(db)]);
  try {
    await session.hangUp();
  } catch (error) {
    if (isCallUnknown(error)) throw callNotFound(callId);
    if (!(error instanceof CommandRefusal) && !(error instanceof NodeUnavailable)) throw error;
    // The request stands: it is retried until the call has ended.
    session.dismiss('local_hangup');
    throw nodeError(callId, `The phone node did not confirm the hang-up: ${asSentence(error.message)}`);
  }
  return deviceIdOf(key, slot ?? { nodeId: session.call.nodeId, slot: '' });
}

const keys = new WeakMap<Database, Promise<string>>();

/** The service's own key of the ids, read once. A failure is tried again. */
function keyOf(db: Database): Promise<string> {
  const known = keys.get(db);
  if (known !== undefined) return known;
  const key = secretOf(db, 'device_id');
  keys.set(db, key);
  key.catch(() => keys.delete(db));
  return key;
}

/**
 * The same for every call of a slot. Not an IMEI: subscribers have no use for one, and a lost phone can be reported with it. Keyed, so that
 * names of nodes and slots cannot be guessed from it.
 */
const deviceIdOf = (key: string, { nodeId, slot }: { nodeId: string; slot: string }): string =>
  `dev_${createHmac('sha256', key).update(`${nodeId} ${slot}`).digest('hex').slice(0, 16)}`;

const nodeError = (callId: string, message: string): Refusal =>
  new Refusal('phone_node_error', message, { details: { call_id: callId } });
