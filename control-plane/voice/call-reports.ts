// Reports of nodes about calls: their fields, and the call that each is about.
import type { Answerer, LiveCall } from '#shared/voice/call.ts';
import type { Base } from '../bus/base.ts';
import { AnswerDetection } from '../hearing/answer-detection.ts';
import { storableText } from '../store/database/database.ts';
import { addRefusals } from '../store/fleet/node-refusals.ts';
import { type CallRow, noteCallUp } from '../store/messages/calls.ts';

type CallIdentity = Pick<CallRow, 'iccid' | 'direction' | 'peer'>;

/** Whether a report is about the same call. A modem may report the caller late, but never another caller. */
export const isSameCall = (call: CallIdentity, frame: CallIdentity): boolean =>
  call.iccid === frame.iccid &&
  call.direction === frame.direction &&
  (call.peer === null || storablePeer(call.peer) === storablePeer(frame.peer));

/** Larger than any rack. */
const CALLS_PER_NODE_MAX = 1_000;
/** A line has one call; the end of the one before may be reported late. */
const CALLS_PER_SIM_MAX = 2;

/** Whether a node that has these calls can have no other one of the SIM. */
export const isOneTooMany = (calls: readonly Pick<CallRow, 'iccid'>[], iccid: string): boolean =>
  calls.length >= CALLS_PER_NODE_MAX ||
  calls.filter((call) => call.iccid === iccid).length >= CALLS_PER_SIM_MAX;

/** Counts a report that names another SIM, direction or peer than the first one: only that checks the SIM. */
export function refuseChanged(
  { db, clock, log }: Pick<Base, 'db' | 'clock' | 'log'>,
  nodeId: string,
  callId: string,
): void {
  log.warn({ node: nodeId, call: callId }, 'call report refused: SIM, direction or peer changed');
  addRefusals(db, { nodeId, reason: 'calls', count: 1 }, new Date(clock.now())).catch((error: unknown) =>
    log.warn({ err: error, node: nodeId }, 'counting a refused call report failed'),
  );
}

const storablePeer = (peer: string | null): string | null => (peer === null ? null : storableText(peer));

/** A time that a node reports: its clock may be ahead, and one before the epoch is none that a receipt can state. */
export function toDate(text: string, now: Date): Date;
export function toDate(text: string | null, now: Date): Date | null;
export function toDate(text: string | null, now: Date): Date | null {
  return text === null ? null : new Date(Math.max(0, Math.min(Date.parse(text), now.getTime())));
}

export interface CallReport {
  nodeId: string;
  frame: LiveCall;
}

/** A call as its node reports it. */
export const reportedCall = (
  { nodeId, frame }: CallReport,
  { number, subscriptionId, answeredBy }: Pick<CallRow, 'number' | 'subscriptionId' | 'answeredBy'>,
  now: Date,
): CallRow => ({
  callId: frame.call_id,
  nodeId,
  number,
  subscriptionId,
  iccid: frame.iccid,
  direction: frame.direction,
  state: frame.state,
  startedAt: toDate(frame.started_at, now),
  peer: storablePeer(frame.peer),
  answeredAt: toDate(frame.answered_at, now),
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
