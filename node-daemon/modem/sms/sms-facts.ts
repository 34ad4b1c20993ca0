// From received messages to the facts of the control link. Pure.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { NewRecord } from '../../journal/record.ts';
import type { JoinedMessage } from '../../sms/concatenation.ts';

/** A body that is this long as JSON fits into a frame with the fields around it. */
const BODY_BYTES_MAX = 60_000;
/** A body of this many units fits with any characters: JSON writes none with more than 6 bytes. */
const BODY_UNITS_MAX = 10_000;
/** Limits of the link's message format. */
const UNREADABLE_PDU_MAX = 1024;
const REASON_MAX = 512;

/** The facts of a received message: one, or several when the text is longer than a frame. */
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

/** One message's facts. Only the last settles where they came from: a torn write repeats them. */
export function factRecords(
  facts: readonly Fact[],
  settled: Pick<Extract<NewRecord, { kind: 'fact' }>, 'entry' | 'group'>,
): NewRecord[] {
  return facts.map((fact, index) => ({ kind: 'fact', fact, ...(index === facts.length - 1 ? settled : {}) }));
}

/** The fact of a PDU that cannot be decoded to text. */
export function unreadableFact(iccid: string, pdu: string, reason: string, receivedAt: string): Fact {
  return {
    kind: 'sms_unreadable',
    iccid,
    pdu: pdu.slice(0, UNREADABLE_PDU_MAX),
    reason: reason.slice(0, REASON_MAX),
    received_at: receivedAt,
  };
}

/** Cuts a text to bodies that fit into frames, and replaces characters that no store takes: NUL and halves of pairs. */
function bodiesOf(text: string): string[] {
  const storable = text.replace(/[\0\p{Surrogate}]/gu, '\ufffd');
  if (Buffer.byteLength(JSON.stringify(storable)) <= BODY_BYTES_MAX) return [storable];
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
