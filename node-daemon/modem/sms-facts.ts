// From decoded PDUs to the facts of the control link. Pure.
import type { Fact, FactOf } from '#shared/link/messages.ts';
import type { ReadonlyJournalState } from '../journal/journal-state.ts';
import type { NewRecord } from '../journal/record.ts';
import type { JoinedMessage } from '../sms/concatenation.ts';
import type { StatusReport } from '../sms/tpdu.ts';

/** A body that is this long as JSON fits into a frame with the fields around it. */
export const BODY_BYTES_MAX = 60_000;
/** A body of this many units does so whatever its characters: JSON writes none with more than 6 bytes. */
const BODY_UNITS_MAX = 10_000;
/** What the wire takes. */
const UNREADABLE_PDU_MAX = 1024;
const REASON_MAX = 512;
/** The recipient's form may differ between submit and report; its last digits do not. */
const RECIPIENT_DIGITS = 8;

/** The facts of a received message: one, or several when the text is longer than a frame. */
export function receivedFacts(iccid: string, message: JoinedMessage): FactOf<'sms_received'>[] {
  return bodiesOf(message.text).map((body, _, bodies) => ({
    kind: 'sms_received',
    iccid,
    from: message.from.slice(0, 32),
    body,
    sent_at: message.sentAt,
    received_at: message.receivedAt,
    partial: message.partial || bodies.length > 1,
  }));
}

/** One message's facts. Only the last settles where they came from: a torn write repeats them. */
export function factRecords(
  facts: readonly Fact[],
  settled: Pick<Extract<NewRecord, { kind: 'fact' }>, 'entry' | 'group'>,
): NewRecord[] {
  return facts.map((fact, index) => ({
    ...{ kind: 'fact', fact },
    ...(index === facts.length - 1 ? settled : {}),
  }));
}

/** The fact of a PDU that cannot be told as text. */
export function unreadableFact(iccid: string, pdu: string, reason: string, receivedAt: string): Fact {
  return {
    kind: 'sms_unreadable',
    iccid,
    pdu: pdu.slice(0, UNREADABLE_PDU_MAX),
    reason: reason.slice(0, REASON_MAX),
    received_at: receivedAt,
  };
}

/**
 * The fact of a status report, matched to the newest accepted command of this SIM with its reference and
 * recipient. `command_id` is null where there is none. Only accepted commands have references: a report
 * for one whose outcome is unknown, or for segments that went out before another one failed, has no command.
 */
export function reportFact(
  iccid: string,
  report: StatusReport,
  commands: ReadonlyJournalState['commands'],
  receivedAt: string,
): FactOf<'sms_report'> {
  return {
    kind: 'sms_report',
    iccid,
    command_id: commandOf(iccid, report, commands) ?? null,
    message_reference: report.messageReference,
    recipient: report.recipient,
    part: 1,
    parts: 1,
    status: reportStatusOf(report.status),
    tp_status: report.status,
    at: report.dischargedAt ?? receivedAt,
  };
}

/** What a TP-Status octet means (3GPP TS 23.040 §9.2.3.15). Reserved values count as rejected, as it asks. */
export function reportStatusOf(status: number): FactOf<'sms_report'>['status'] {
  if (status < 0x20) return 'delivered';
  if (status < 0x40) return 'pending';
  return status === VALIDITY_EXPIRED ? 'expired' : 'failed';
}

const VALIDITY_EXPIRED = 0x46;

function commandOf(
  iccid: string,
  report: StatusReport,
  commands: ReadonlyJournalState['commands'],
): string | undefined {
  const recipient = lastDigits(report.recipient);
  let newest: string | undefined;
  for (const [commandId, command] of commands) {
    const { outcome } = command;
    const sent =
      outcome?.status === 'accepted' && outcome.message_references.includes(report.messageReference);
    if (sent && command.iccid === iccid && lastDigits(command.to) === recipient) newest = commandId;
  }
  return newest;
}

function lastDigits(number: string): string {
  return number.replace(/\D/g, '').slice(-RECIPIENT_DIGITS);
}

/** Cuts a text to what fits into frames, and replaces what no store takes: NUL and halves of pairs. */
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
