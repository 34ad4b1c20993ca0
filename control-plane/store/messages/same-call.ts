// A call keeps its SIM, its direction and its far end, whatever its node reports of it later.
import type { CallDirection } from '#shared/voice/call.ts';
import { storableText } from '../database/reported-values.ts';

interface CallIdentity {
  iccid: string;
  direction: CallDirection;
  peer: string | null;
}

/** Whether a report is about the same call. A modem may report the caller late, but never another caller. */
export const isSameCall = (call: CallIdentity, reported: CallIdentity): boolean =>
  call.iccid === reported.iccid &&
  call.direction === reported.direction &&
  (call.peer === null || storablePeer(call.peer) === storablePeer(reported.peer));

export const storablePeer = (peer: string | null): string | null =>
  peer === null ? null : storableText(peer);
