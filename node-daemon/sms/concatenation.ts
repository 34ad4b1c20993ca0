// Joins the parts of a concatenated message: out of order, repeated, or never complete. Pure.
import type { ConcatenationHeader } from './user-data.ts';

/** A part that was received and waits for the others. */
export interface MessagePart extends ConcatenationHeader {
  readonly from: string;
  readonly text: string;
  readonly sentAt: string | null;
  readonly receivedAt: string;
  /** It reached the modem later than this; absent where that is not known. */
  readonly arrivedAfter?: string;
}

/** The key that the parts of one message share. Senders reuse references, so it is not an identity. */
export function groupKey(iccid: string, part: MessagePart): string {
  return [iccid, part.referenceBits, part.reference, part.total, part.from].join('/');
}

/**
 * Where a part belongs among those that wait under its key: `new` as a part that was missing, `repeated`
 * when it is there already, `other` when its place is taken by another text, so that it begins a new message.
 */
export function placeOf(waiting: readonly MessagePart[], part: MessagePart): 'new' | 'repeated' | 'other' {
  const same = waiting.find((other) => other.part === part.part);
  if (same === undefined) return 'new';
  return same.text === part.text ? 'repeated' : 'other';
}

/** A message made of the parts that came. */
export interface JoinedMessage {
  readonly from: string;
  readonly text: string;
  /** The earliest time stamp of the service center; null where any of the parts has no valid one. */
  readonly sentAt: string | null;
  /** When the first part came. */
  readonly receivedAt: string;
  /** All of its parts reached the modem later than this. */
  readonly arrivedAfter?: string;
  readonly partial: boolean;
}

/**
 * Joins one or more parts of one message in their order, even if some are missing. Its times are those of the earliest part: senders use
 * references again, and a part that waited may be from before the number changed hands.
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

/** Null where any of them is. */
function earliest(times: readonly (string | null)[]): string | null {
  return times.reduce((first, time) => {
    if (first === null || time === null) return null;
    return Date.parse(first) <= Date.parse(time) ? first : time;
  });
}
