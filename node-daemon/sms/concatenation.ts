// Joins the parts of a concatenated message, which may be out of order, repeated or incomplete. Pure.
import type { ConcatenationHeader } from './user-data.ts';

/** A received part that waits for the others. */
export interface MessagePart extends ConcatenationHeader {
  readonly from: string;
  /** For a WAP push, its octets in hexadecimal. */
  readonly text: string;
  /** Received PDU of a WAP push; absent for a text. */
  readonly pdu?: string;
  readonly sentAt: string | null;
  readonly receivedAt: string;
  /** It reached the modem after this time; absent if unknown. */
  readonly arrivedAfter?: string;
}

/** Returns the key that the parts of one message share. Senders reuse references, so it is not unique. */
export function groupKey(iccid: string, part: MessagePart): string {
  const key = [iccid, part.referenceBits, part.reference, part.total, part.from];
  return (part.pdu === undefined ? key : [...key, 'push']).join('/');
}

/**
 * Returns the relation of a part to those that wait under its key. `new`: it was missing. `repeated`: it is already
 * there. `other`: its place has another text, so it begins a new message.
 */
export function partPlaceOf(
  waiting: readonly MessagePart[],
  part: MessagePart,
): 'new' | 'repeated' | 'other' {
  const same = waiting.find((other) => other.part === part.part);
  if (same === undefined) return 'new';
  return same.text === part.text ? 'repeated' : 'other';
}

/** A message made of the received parts. */
export interface JoinedMessage {
  readonly from: string;
  readonly text: string;
  /** The earliest time stamp of the service center; null if any part has no valid one. */
  readonly sentAt: string | null;
  /** Time at which the first part came. */
  readonly receivedAt: string;
  /** All of its parts reached the modem after this time. */
  readonly arrivedAfter?: string;
  readonly partial: boolean;
}

/**
 * Joins one or more parts of one message in order, even if some are missing. Its times are those of the earliest part: senders reuse
 * references, and a waiting part may be older than the current subscription of the number.
 */
export function joinParts(parts: readonly [MessagePart, ...MessagePart[]]): JoinedMessage {
  const ordered = [...parts].sort((a, b) => a.part - b.part);
  const arrivedAfter = earliest(ordered.map((part) => part.arrivedAfter ?? null));
  return {
    from: parts[0].from,
    text: ordered.map((part) => part.text).join(''),
    sentAt: earliest(ordered.map((part) => part.sentAt)),
    receivedAt: parts.map((part) => part.receivedAt).sort()[0] ?? parts[0].receivedAt,
    ...(arrivedAfter === null ? {} : { arrivedAfter }),
    partial: new Set(ordered.map((part) => part.part)).size < parts[0].total,
  };
}

/** Returns the earliest time; null if any of them is null. */
function earliest(times: readonly (string | null)[]): string | null {
  return times.reduce((first, time) => {
    if (first === null || time === null) return null;
    return Date.parse(first) <= Date.parse(time) ? first : time;
  });
}
