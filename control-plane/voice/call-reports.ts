// Reports of nodes about calls: their fields, and the call that each is about.
import type { Logger } from '#shared/log.ts';
import { type Database, storableText } from '../store/database/database.ts';
import { type CallRow, noteCallUp } from '../store/messages/calls.ts';

type CallIdentity = Pick<CallRow, 'iccid' | 'direction' | 'peer'>;

/** Whether a report is about the same call. A modem may report the caller late, but never another caller. */
export const isSameCall = (call: CallIdentity, frame: CallIdentity): boolean =>
  call.iccid === frame.iccid &&
  call.direction === frame.direction &&
  (call.peer === null || storablePeer(call.peer) === storablePeer(frame.peer));

export const storablePeer = (peer: string | null): string | null =>
  peer === null ? null : storableText(peer);

export const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** Returns a function that records the time of the last audio of a call. It logs a failure. */
export const audioRecorder =
  ({ db, log }: { db: Database; log: Logger }, callId: string) =>
  (upAt: Date): void =>
    void noteCallUp(db, callId, upAt).catch((error: unknown) =>
      log.warn({ err: error, call: callId }, 'recording the last audio of a call failed'),
    );
