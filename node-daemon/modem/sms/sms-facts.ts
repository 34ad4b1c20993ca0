// Makes the facts of received messages for the control link. Pure.
import { BODY_MAX, type Fact, type FactOf } from '#shared/link/messages.ts';
import type { NewRecord } from '../../journal/record.ts';
import type { JoinedMessage, MessagePart } from '../../sms/concatenation.ts';

/** A body of this length as JSON fits into a frame with the other fields. */
const BODY_BYTES_MAX = 60_000;
/** A body of this many UTF-16 units always fits, because JSON needs at most 6 bytes for each. */
const BODY_UNITS_MAX = 10_000;
/** Limits of the link's message format. */
const UNREADABLE_PDU_MAX = 1024;
const REASON_MAX = 512;

/** Returns the facts of a received message: several if the text is longer than a frame. */
export function receivedFacts(iccid: string, message: JoinedMessage): FactOf<'sms_received'>[] {
  return bodiesOf(message.text).map((body, _, bodies) => ({
    kind: 'sms_received',
    iccid,
    from: message.from.slice(0, 32),
    body,
    sent_at: message.sentAt,
    received_at: message.receivedAt,
    ...(message.arrivedAfter === undefined ? {} : { arrived_after: message.arrivedAfter }),
    partial: message.partial || bodies.length > 1,
  }));
}

/** Makes the records of one message's facts. Only the last record marks the entry as reported, because a torn write repeats them. */
export function factRecords(
  facts: readonly Fact[],
  marked: Pick<Extract<NewRecord, { kind: 'fact' }>, 'entry' | 'group'>,
): NewRecord[] {
  return facts.map((fact, index) => ({ kind: 'fact', fact, ...(index === facts.length - 1 ? marked : {}) }));
}

/** Returns the fact of a PDU that cannot be decoded to text. */
export function unreadableFact(iccid: string, pdu: string, reason: string, receivedAt: string): Fact {
  return {
    kind: 'sms_unreadable',
    iccid,
    pdu: pdu.slice(0, UNREADABLE_PDU_MAX),
    reason: reason.slice(0, REASON_MAX),
    received_at: receivedAt,
  };
}

/** Returns the facts of parts whose message the link does not carry. Of a text there is no PDU. */
export function unreadableParts(iccid: string, parts: readonly MessagePart[], reason: string): Fact[] {
  return parts.map(({ pdu, text, receivedAt }) =>
    pdu === undefined
      ? unreadableFact(iccid, ucs2Of(text), `not a PDU, but a part of a text in UCS-2: ${reason}`, receivedAt)
      : unreadableFact(iccid, pdu, reason, receivedAt),
  );
}

const ucs2Of = (text: string): string => Buffer.from(text, 'utf16le').swap16().toString('hex').toUpperCase();

/** Cuts a text into bodies that fit into frames, and replaces characters that cannot be stored: NUL and unpaired surrogates. */
function bodiesOf(text: string): string[] {
  const storable = text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
  const isShort = storable.length <= BODY_MAX;
  if (isShort && Buffer.byteLength(JSON.stringify(storable)) <= BODY_BYTES_MAX) return [storable];
  const bodies: string[] = [];
  let body = '';
  for (const char of storable) {
    if (body.length + char.length > BODY_UNITS_MAX) {
      bodies.push(body);
      body = '';
    }
    body += char;
  }
  return [...bodies, body];
}
