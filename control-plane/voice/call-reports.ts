// Reports of nodes about calls: their fields, the call that each is about, its owner, and the refusals.
import type { Answerer, LiveCall } from '#shared/voice/call.ts';
import type { Base } from '../bus/base.ts';
import type { RefusalLog } from '../bus/refusal-log.ts';
import { AnswerDetection } from '../hearing/answer-detection.ts';
import type { Fleet } from '../nodes/fleet.ts';
import { reportedTime } from '../store/database/reported-values.ts';
import { addRefusals } from '../store/fleet/node-refusals.ts';
import { findHeldAs } from '../store/fleet/sim-tenures.ts';
import { type CallRow, findLiveCall, noteCallUp } from '../store/messages/calls.ts';
import { isSameCall, storablePeer } from '../store/messages/same-call.ts';
import { ownerOfCall } from '../store/operations/probe-calls.ts';

/** Larger than any rack. */
const CALLS_PER_NODE_MAX = 1_000;
/** A line has one call. The ends of earlier ones may be stored late: a caller may ring again and again while the store is away. */
const CALLS_PER_SIM_MAX = 5;

/** Whether a node with this many calls can have no other one of a SIM that has `ofSim` of them. */
export const isOneTooMany = ({ ofNode, ofSim }: { ofNode: number; ofSim: number }): boolean =>
  ofNode >= CALLS_PER_NODE_MAX || ofSim >= CALLS_PER_SIM_MAX;

interface ReportParts extends Pick<Base, 'db' | 'clock' | 'log'> {
  fleet: Pick<Fleet, 'find'>;
  refusals: Pick<RefusalLog, 'note'>;
}

/** Counts a report that names another SIM, direction or peer than the first one: only that checks the SIM. */
export function refuseChanged(
  { db, clock, log, refusals }: Omit<ReportParts, 'fleet'>,
  nodeId: string,
  callId: string,
): void {
  refusals.note('SIM, direction or peer changed', { node: nodeId, call: callId });
  addRefusals(db, { nodeId, reason: 'calls', count: 1 }, new Date(clock.now())).catch((error: unknown) =>
    log.warn({ err: error, node: nodeId }, 'counting a refused call report failed'),
  );
}

type CallOwner = Pick<CallRow, 'number' | 'subscriptionId' | 'answeredBy'>;

/**
 * The owner of the call that a report is about. Undefined, and counted, for a SIM that the node does not hold, or for a recorded call with
 * another SIM, direction or peer. `isKnown`: the node had the call before its link.
 */
export async function findOwner(
  parts: ReportParts,
  from: string,
  reported: LiveCall,
  { isKnown }: { isKnown: boolean },
): Promise<CallOwner | undefined> {
  const { db, clock, fleet, refusals } = parts;
  const { call_id: callId, iccid } = reported;
  await fleet.find(from)?.slotsWritten();
  const now = new Date(clock.now());
  const [heldAs = 'no holder'] = await findHeldAs(db, from, [{ iccid, at: now }]);
  if (heldAs === 'no holder') {
    refusals.note('the node does not hold the SIM', { node: from, call: callId });
    await addRefusals(db, { nodeId: from, reason: 'calls', count: 1 }, now);
    return undefined;
  }
  // Another instance may have dialed it.
  const isRecorded = isKnown || reported.direction === 'outbound';
  const known = isRecorded ? await findLiveCall(db, callId, from) : undefined;
  if (known === undefined)
    return { ...(await ownerOfCall(db, { ...reported, callId }, now)), answeredBy: null };
  if (isSameCall(known, reported)) return known;
  refuseChanged(parts, from, callId);
  return undefined;
}

export interface CallReport {
  nodeId: string;
  frame: LiveCall;
}

/** A call as its node reports it. */
export const reportedCall = (
  { nodeId, frame }: CallReport,
  { number, subscriptionId, answeredBy }: CallOwner,
  now: Date,
): CallRow => ({
  callId: frame.call_id,
  nodeId,
  number,
  subscriptionId,
  iccid: frame.iccid,
  direction: frame.direction,
  state: frame.state,
  startedAt: reportedTime(frame.started_at, now),
  peer: storablePeer(frame.peer),
  answeredAt: reportedTime(frame.answered_at, now),
  answeredBy,
});

interface CallRecorders {
  onMediaLost(upAt: Date): void;
  onAudio?(frame: Uint8Array, call: CallRow): void;
}

/** Records the time of the last audio of a call, and who answered it if its client asked. Logs failures. */
export function recordersOf(
  parts: Pick<Base, 'db' | 'bus' | 'clock' | 'log'>,
  { answeredBy, callId }: CallRow,
  onVerdict: (verdict: Answerer) => void,
): CallRecorders {
  const { db, log } = parts;
  const onMediaLost = (upAt: Date): void =>
    void noteCallUp(db, callId, upAt).catch((error: unknown) =>
      log.warn({ err: error, call: callId }, 'recording the last audio of a call failed'),
    );
  if (answeredBy !== 'undecided') return { onMediaLost };
  const detection = new AnswerDetection(parts, callId, onVerdict);
  return { onMediaLost, onAudio: (frame, call) => detection.hear(frame, call) };
}
