// The reason that a call ended: the cause of ITU-T Q.850, a word for programs, and the close code of its sockets.
import * as z from 'zod';
import { causeName } from './cause-name.ts';

/** ITU-T Q.850 §2.2.5: a cause value has seven bits. */
export const causeSchema = z.number().int().min(0).max(127);

/** Names of ITU-T Q.850 §2.2.7 for the causes that this service gives itself. */
export const CAUSE = {
  normalClearing: 16,
  userBusy: 17,
  noUserResponding: 18,
  noAnswer: 19,
  callRejected: 21,
  destinationOutOfOrder: 27,
  normalUnspecified: 31,
  networkOutOfOrder: 38,
  temporaryFailure: 41,
  recoveryOnTimerExpiry: 102,
} as const;

/** Why a call ended, in the words of the API. */
export const END_REASON = {
  local_hangup: 'The subscriber hung up, with a request or by closing the stream.',
  remote_hangup: 'The far end hung up after the call was answered.',
  busy: 'The far end is busy.',
  no_answer: 'The far end did not answer within the time of the network or of the service.',
  rejected: 'The far end rejected the call, or the subscriber rejected it while it rang.',
  cancelled: 'The caller gave up while it rang.',
  network_failure: 'The network could not connect the call, or lost it.',
  modem_lost: 'The modem, its SIM or its port failed.',
  contact_lost:
    'The service lost contact with the call: its node or its link failed. `ended_at` is the last time that the call was known to be up; it may have gone on for longer.',
  abandoned: 'The call had no stream in time, or its node lost the control plane.',
} as const satisfies Record<string, string>;
export type EndReason = keyof typeof END_REASON;
const END_REASONS = Object.keys(END_REASON) as [EndReason, ...EndReason[]];
export const endReasonSchema = z.enum(END_REASONS);

/** WebSocket close codes of a call: 4000 and the cause (RFC 6455 §7.4.2, private use). */
export const callCloseCode = (cause: number): number => 4000 + cause;

/** The cause in a close code of 4000 and a cause; undefined for other codes. */
export const causeOfClose = (code: number): number | undefined => causeSchema.safeParse(code - 4000).data;

/** RFC 6455 §7.4.1. */
const NORMAL_CLOSURE = 1000;

/**
 * How the stream of a call that has ended is closed: with 1000 after a normal end, because many WebSocket clients report any other code as
 * an error. The reason is the cause and its name: `17 user_busy`.
 */
export const callClose = (cause: number): { code: number; reason: string } => ({
  code: cause === CAUSE.normalClearing ? NORMAL_CLOSURE : callCloseCode(cause),
  reason: causeText(cause),
});

/** The cause and its name. */
export const causeText = (cause: number): string => `${cause} ${causeName(cause)}`;

/** The reason for a cause alone. `wasAnswered`: the call was answered before. */
export function reasonOfCause(cause: number, wasAnswered: boolean): EndReason {
  if (cause === CAUSE.userBusy) return 'busy';
  if (cause === CAUSE.noUserResponding || cause === CAUSE.noAnswer) return 'no_answer';
  if (cause === CAUSE.callRejected) return 'rejected';
  if (cause === CAUSE.normalClearing || cause === CAUSE.normalUnspecified) {
    return wasAnswered ? 'remote_hangup' : 'cancelled';
  }
  return 'network_failure';
}
