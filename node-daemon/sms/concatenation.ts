// Joins the parts of a concatenated message: out of order, repeated, or never complete. Pure.
import type { ConcatenationHeader } from './user-data.ts';

/** A part that was received and waits for the others. */
export interface MessagePart extends ConcatenationHeader {
  readonly from: string;
  readonly text: string;
  readonly sentAt: string | null;
  readonly receivedAt: string;
}

/** What parts of one message have in common; senders use references again, so that it is no identity. */
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
  /** The earliest valid time stamp of the service centre. */
  readonly sentAt: string | null;
  /** When the first part came. */
  readonly receivedAt: string;
  readonly partial: boolean;
}

/** Joins one or more parts of one message in their order, whatever is missing. */
export function joinParts(parts: readonly [MessagePart, ...MessagePart[]]): JoinedMessage {
  const ordered = [...parts].sort((a, b) => a.part - b.part);
  const stamps = ordered.flatMap((part) => part.sentAt ?? []);
  return {
    from: parts[0].from,
    text: ordered.map((part) => part.text).join(''),
    sentAt: stamps.reduce<string | null>(
      (first, stamp) => (first !== null && Date.parse(first) <= Date.parse(stamp) ? first : stamp),
      null,
    ),
    receivedAt: parts.map((part) => part.receivedAt).sort()[0] ?? parts[0].receivedAt,
    partial: new Set(ordered.map((part) => part.part)).size < parts[0].total,
  };
}
