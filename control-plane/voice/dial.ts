// Places a call: records it first, hands it to the node once, and returns when the far end rings or the call fails.
import { randomBytes } from 'node:crypto';
import { asSentence } from '#shared/error-message.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import type { DialOutcome } from '#shared/voice/call.ts';
import type { Base } from '../bus/base.ts';
import { destinationNotAllowed } from '../domain/destination-policy.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Subscription } from '../domain/subscription.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { NodeUnavailable, rateLimited } from '../nodes/node-link.ts';
import { whyUnserved } from '../nodes/unserved.ts';
import { locateNumber } from '../store/fleet/sims.ts';
import { type CallRow, deleteUntriedCall, findOpenCallOfSim, putCall } from '../store/messages/calls.ts';
import type { CallSession } from './call-session.ts';
import type { LiveCalls } from './live-calls.ts';
import { DIAL_START_MS } from './lost-calls.ts';

export interface DialParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  fleet: Fleet;
  live: LiveCalls;
  /** How long the far end may take to ring. */
  dialTimeoutMs: number;
}

/**
 * Calls `to`, an allowed E.164 number, from the subscription's number. Returns the call's id when the far end rings or has answered. Throws
 * `Refusal`: `subscription_not_bound`, `line_busy`, `rate_limited`, `destination_not_allowed` (set by the node's operator), and
 * `phone_node_unreachable` with `reason`, and `cause` if the network reported one. A call that the node does not report in time is hung up.
 * So is a call whose client no longer waits: `signal` is aborted.
 */
export async function dial(
  parts: DialParts,
  subscription: Subscription,
  { to, detectsMachine, signal }: { to: string; detectsMachine: boolean; signal: AbortSignal },
): Promise<string> {
  const { db, fleet, live, clock } = parts;
  const place = await locateNumber(db, subscription.number);
  if (place?.boundTo !== subscription.id) throw await notBound(parts, subscription);
  // No await between this check and `begin`, so that of two calls at once only one passes.
  if (live.isBusy(place)) throw lineBusy(live.ofSim(place.iccid), subscription.id);
  const callId = `call_${randomBytes(12).toString('hex')}`;
  const now = new Date(clock.now());
  const session = live.begin({
    callId,
    subscriptionId: subscription.id,
    number: subscription.number,
    iccid: place.iccid,
    nodeId: place.nodeId,
    direction: 'outbound',
    peer: to,
    state: 'dialing',
    startedAt: now,
    answeredAt: null,
    answeredBy: detectsMachine ? 'undecided' : null,
  });
  // While the call is being stored, the instance that has the link is found.
  const link = fleet.reach(place.nodeId);
  try {
    await putCall(db, session.call, now);
  } catch (error) {
    live.forget(callId);
    throw error;
  }
  if (signal.aborted) {
    await forgetUntried(parts, callId);
    throw signal.reason;
  }
  const onAbort = (): void => session.dismiss('abandoned');
  const answered = link
    .command(
      'dial',
      { call_id: callId, iccid: place.iccid, to },
      { id: callId, timeLeftMs: DIAL_START_MS, timeoutMs: parts.dialTimeoutMs },
    )
    .catch((error: unknown) => giveUp(parts, session, error))
    .finally(() => signal.removeEventListener('abort', onAbort));
  signal.addEventListener('abort', onAbort, { once: true });
  const outcome = await answered;
  if (outcome.status !== 'ended') return callId;
  // The node's fact ends it in the store; the line is free now.
  live.forget(callId);
  throw notConnected(callId, outcome);
}

function notConnected(callId: string, { reason, cause }: DialOutcome & { status: 'ended' }): Refusal {
  return unreachable(`The call was not connected: ${reason}.`, { reason, cause, call_id: callId });
}

/** The node got no command. */
async function forgetUntried({ db, live, log }: DialParts, callId: string): Promise<void> {
  live.forget(callId);
  await deleteUntriedCall(db, callId).catch((cause: unknown) =>
    log.warn({ err: cause, call: callId }, 'deleting the record of an untried call failed'),
  );
}

async function giveUp(parts: DialParts, session: CallSession, error: unknown): Promise<never> {
  const { callId } = session.call;
  const isTried = error instanceof NodeUnavailable && error.isSent;
  if (isTried) {
    // It may ring by now, or begin to ring, without a client.
    session.dismiss('abandoned');
    throw unreachable(`The phone node did not answer: ${asSentence(error.message)}`, {
      reason: 'no_answer_from_node',
      call_id: callId,
    });
  }
  await forgetUntried(parts, callId);
  if (error instanceof NodeUnavailable)
    throw unreachable('The phone node is offline. The call was not placed.', { reason: 'node_offline' });
  if (!(error instanceof CommandRefusal)) throw error;
  if (error.code === 'line_busy') throw await busyAtNode(parts, session.call);
  if (error.code === 'rate_limited') throw rateLimited('calls', error);
  if (error.code === 'destination_not_allowed') throw destinationNotAllowed(error.message);
  throw unreachable(`The call was not placed. ${asSentence(error.message)}`, { reason: error.code });
}

async function notBound({ clock, db }: DialParts, { id }: Subscription): Promise<Refusal> {
  const { advice, trouble } = await whyUnserved(db, id, new Date(clock.now()));
  return new Refusal('subscription_not_bound', `${trouble} ${advice}`);
}

/** A modem hangs up within a second or two. */
const ENDING_SECONDS = 1;

/** Names only a call of the subscription: another one of its SIM is a probe, or of the subscriber before. */
function lineBusy(sessions: readonly CallSession[], subscriptionId: string | null): Refusal {
  const callId = sessions.find(({ call }) => call.subscriptionId === subscriptionId)?.call.callId;
  return sessions.some(({ isEnding }) => isEnding) ? lineIsEnding(callId) : lineHasCall(callId);
}

/** The node has a call that this instance does not: one that another instance tracks, that just ends, or that is about to be reported. */
async function busyAtNode({ db, log }: DialParts, { iccid, subscriptionId }: CallRow): Promise<Refusal> {
  const callId = await findOpenCallOfSim(db, iccid, subscriptionId).catch((error: unknown) => {
    log.warn({ err: error }, 'reading the call of a busy line failed');
    return undefined;
  });
  return callId === undefined ? lineIsEnding() : lineHasCall(callId);
}

const lineHasCall = (callId?: string): Refusal =>
  new Refusal(
    'line_busy',
    'The number already has a call. GET /voice/calls lists it, POST /voice/hangup ends it.',
    { details: callId === undefined ? {} : { call_id: callId } },
  );

const lineIsEnding = (callId?: string): Refusal =>
  new Refusal('line_busy', 'The number has a call that is ending. Try again in a second.', {
    details: callId === undefined ? {} : { call_id: callId },
    headers: { 'Retry-After': String(ENDING_SECONDS) },
  });

const unreachable = (message: string, details: Record<string, unknown>): Refusal =>
  new Refusal('phone_node_unreachable', message, { details });
