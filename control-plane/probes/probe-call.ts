// One call between two SIMs: dialed, seen to ring at the other end, answered, and hung up by both after a second.
import { sleep } from '#shared/clock.ts';
import { CommandRefusal } from '#shared/link/command-refusal.ts';
import { linkedSignal } from '#shared/process/linked-signal.ts';
import type { Base } from '../bus/base.ts';
import { isTolerablySame } from '../domain/probe-text.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { type CallRow, deleteUntriedCall, putCall } from '../store/messages/calls.ts';
import type { Probe, ProbeOutcome } from '../store/operations/probes.ts';
import type { LiveCalls } from '../voice/live-calls.ts';
import { abandoned, failed, notTried } from './outcome.ts';

export interface CallParts extends Pick<Base, 'db' | 'clock'> {
  fleet: Fleet;
  live: LiveCalls;
}

/** From the command to the ring at the other end. */
export const RING_MS = 30_000;
const ANSWER_MS = 10_000;
const TALK_MS = 1_000;
const START_MS = 10_000;
/** Both nodes report the end of a call. */
const OVER_MS = 15_000;
const OVER_POLL_MS = 200;

export async function tryCall(parts: CallParts, probe: Probe, signal: AbortSignal): Promise<ProbeOutcome> {
  const { db, fleet, live, clock } = parts;
  const { id, sender, recipient } = probe;
  const link = fleet.find(sender.node);
  const far = fleet.find(recipient.node);
  if (link === undefined || far === undefined) return abandoned('a node has no link here');
  // No await between this check and `begin`, so that of two calls at once only one passes.
  if ([sender, recipient].some(({ iccid, node }) => live.isBusy({ iccid, nodeId: node })))
    return abandoned('a SIM is in a call');
  const over = new AbortController();
  const stages = new CallStages(live, probe);
  const session = live.begin({
    callId: id,
    subscriptionId: null,
    number: sender.number,
    iccid: sender.iccid,
    nodeId: sender.node,
    direction: 'outbound',
    peer: recipient.number,
    state: 'dialing',
    startedAt: probe.startedAt,
    answeredAt: null,
    answeredBy: null,
  });
  try {
    await putCall(db, session.call, probe.startedAt);
    const refused = link
      .command(
        'dial',
        { call_id: id, iccid: sender.iccid, to: recipient.number },
        { id, timeLeftMs: START_MS, timeoutMs: RING_MS },
      )
      .then(
        (outcome) =>
          outcome.status === 'ended' ? failed(`the call was not connected: ${outcome.reason}`) : undefined,
        notTried,
      );
    const linked = linkedSignal(signal, over.signal);
    const limit = sleep(clock, RING_MS, linked.signal).finally(linked.unlink).then(nothing, nothing);
    const first = await Promise.race([
      stages.ringing,
      refused.then(async (end) => end ?? (await limit)),
      limit,
    ]);
    if (signal.aborted) return abandoned('the service stopped');
    if (first === undefined) return failed('it did not ring at the other end');
    if ('result' in first) return first;
    const latencyMs = clock.now() - probe.startedAt.getTime();
    return await answered(parts, { callId: first.callId, node: recipient.node, stages, latencyMs, over });
  } finally {
    over.abort();
    stages.stop();
    await end(parts, id, stages.arrived?.callId);
    await untilOver(parts, [id, stages.arrived?.callId ?? id], signal);
  }
}

/** Waits so that the next call of these SIMs finds their lines free, with a limit. */
async function untilOver({ live, clock }: CallParts, callIds: string[], signal: AbortSignal): Promise<void> {
  const untilMs = clock.now() + OVER_MS;
  while (callIds.some((id) => live.find(id, null)) && clock.now() < untilMs && !signal.aborted)
    await sleep(clock, OVER_POLL_MS);
}

/** Answers the ringing call; both ends must report that. */
async function answered(
  { fleet, clock }: CallParts,
  call: { callId: string; node: string; stages: CallStages; latencyMs: number; over: AbortController },
): Promise<ProbeOutcome> {
  const { callId, node, stages, latencyMs, over } = call;
  const refusal = await fleet
    .find(node)
    ?.command(
      'answer',
      { call_id: callId },
      { id: `answer_${callId}`.slice(0, 64), timeLeftMs: ANSWER_MS, timeoutMs: ANSWER_MS },
    )
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  if (refusal !== undefined) return failed('it rang but was not answered', 'recipient');
  const limit = sleep(clock, ANSWER_MS, over.signal).then(() => 'late' as const);
  const seen = await Promise.race([stages.active, limit.catch(() => 'late' as const)]);
  if (seen === 'late') return failed('it was answered, but its caller did not see that');
  await sleep(clock, TALK_MS);
  return { result: 'delivered', latencyMs };
}

/** Hangs up at both ends; the record of a call that was never dialed is deleted. If no end is reported, the session hangs up again. */
async function end({ db, live }: CallParts, id: string, arrivedId: string | undefined): Promise<void> {
  const caller = live.find(id, null);
  if (caller?.call.state === 'dialing') {
    // The node refused it, or it is still being set up.
    await caller.hangUp('abandoned').catch(async (error: unknown) => {
      if (!(error instanceof CommandRefusal)) return caller.dismiss('abandoned');
      live.forget(id);
      await deleteUntriedCall(db, id).catch(() => undefined);
    });
  } else caller?.dismiss('local_hangup');
  if (arrivedId !== undefined) live.find(arrivedId, null)?.dismiss('local_hangup');
}

/** Follows the nodes' reports of the call: it rings at the other end, and its caller sees it answered. */
class CallStages {
  readonly ringing: Promise<CallRow>;
  readonly active: Promise<'active'>;
  /** The call at the recipient. */
  arrived: CallRow | undefined;
  readonly stop: () => void;

  constructor(live: LiveCalls, { id, sender, recipient }: Probe) {
    let onRinging: (call: CallRow) => void = () => undefined;
    let onActive: (word: 'active') => void = () => undefined;
    this.ringing = new Promise((resolve) => {
      onRinging = resolve;
    });
    this.active = new Promise((resolve) => {
      onActive = resolve;
    });
    this.stop = live.watch((call) => {
      const { direction, iccid, peer, callId, state } = call;
      if (callId === id && state === 'active') onActive('active');
      const isOurs = peer === null || isTolerablySame(peer, sender.number);
      if (direction !== 'inbound' || iccid !== recipient.iccid || !isOurs) return;
      this.arrived ??= call;
      onRinging(call);
    });
  }
}

const nothing = (): undefined => undefined;
