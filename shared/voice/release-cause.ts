// Why a call ended: the cause of ITU-T Q.850, a word for programs, and the close code of its sockets.
import * as z from 'zod';

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

/** Who or what ended a call. */
export const END_REASONS = [
  /** The holder of the number, by a request or by the close of the stream. */
  'local_hangup',
  /** The far end, after the call was answered. */
  'remote_hangup',
  'busy',
  /** Nobody answered within the network's time or the service's. */
  'no_answer',
  /** Refused by the far end, or by the holder while it rang. */
  'rejected',
  /** The caller gave up while it rang. */
  'cancelled',
  /** The network could not connect it or lost it. */
  'network_failure',
  /** The modem, its SIM or its port went away. */
  'modem_lost',
  /** Nobody owned the call any more: no stream in time, or no control plane. */
  'abandoned',
] as const;
export const endReasonSchema = z.enum(END_REASONS);
export type EndReason = z.infer<typeof endReasonSchema>;

/** WebSocket close codes of a call: 4000 and the cause (RFC 6455 §7.4.2, private use). */
export const callCloseCode = (cause: number): number => 4000 + cause;

/** The reason of an end of which only the cause is known. `wasAnswered`: it had been a conversation. */
export function reasonOfCause(cause: number, wasAnswered: boolean): EndReason {
  if (cause === CAUSE.userBusy) return 'busy';
  if (cause === CAUSE.noUserResponding || cause === CAUSE.noAnswer) return 'no_answer';
  if (cause === CAUSE.callRejected) return 'rejected';
  if (cause === CAUSE.normalClearing || cause === CAUSE.normalUnspecified) {
    return wasAnswered ? 'remote_hangup' : 'cancelled';
  }
  return 'network_failure';
}
