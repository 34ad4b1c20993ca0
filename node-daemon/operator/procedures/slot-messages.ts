// The messages of a slot that an operator sees: those in the storages, and those in the journal. Pure.
import * as z from 'zod';
import { fieldsOf, integerField } from '../../at/fields.ts';
import type { ReadonlyJournalState } from '../../journal/journal-state.ts';
import type { FoundInStorage } from '../../modem/sms/storage/sms-storage.ts';
import { readPdu } from '../../sms/received-pdu.ts';

/** <stat> in PDU mode (3GPP TS 27.005 §3.1). */
const STATUSES = ['unread', 'read', 'unsent', 'sent'] as const;

/** A message that lies in a storage of the modem or the card. */
const storedSmsSchema = z.object({
  storage: z.string(),
  index: z.int(),
  status: z.enum(STATUSES),
  kind: z.enum(['message', 'report', 'unreadable']),
  /** Sender, or recipient of the message that a report is about; null where it cannot be read. */
  address: z.string().nullable(),
  /** Time of the service center, ISO 8601. */
  sent_at: z.string().nullable(),
  /** The text; for a message without one, its kind. */
  text: z.string(),
  /** "2/3" of a long message. */
  part: z.string().nullable(),
});

const waitingSmsSchema = z.object({ from: z.string(), received_at: z.string(), text: z.string() });

/** Messages of one slot, wherever they are. */
export const slotMessagesSchema = z.object({
  storages: z.array(z.object({ storage: z.string(), used: z.int().nullable(), total: z.int().nullable() })),
  stored: z.array(storedSmsSchema),
  /** In the journal, until the control plane has them. */
  waiting: z.array(waitingSmsSchema),
  /** Parts of long messages in the journal, until the others come. */
  parts: z.array(waitingSmsSchema.extend({ part: z.string() })),
});
export type SlotMessages = z.infer<typeof slotMessagesSchema>;

/** Further messages are only counted. */
const SHOWN_MAX = 200;

export function slotMessages(
  found: ReadonlyMap<string, FoundInStorage>,
  iccid: string,
  { facts, groups }: Pick<ReadonlyJournalState, 'facts' | 'groups'>,
): SlotMessages {
  const waiting = [...facts.values()].flatMap((fact) => {
    if (fact.kind === 'sms_unreadable' && fact.iccid === iccid) {
      return { from: '', received_at: fact.received_at, text: `unreadable: ${fact.reason}` };
    }
    if (fact.kind !== 'sms_received' || fact.iccid !== iccid) return [];
    return { from: fact.from, received_at: fact.received_at, text: fact.body };
  });
  const parts = [...groups.values()]
    .filter((group) => group.iccid === iccid)
    .flatMap((group) => group.parts)
    .map(({ from, part, pdu, total, receivedAt, text }) => ({
      from,
      text: pdu === undefined ? text : '8 bit data',
      part: `${part}/${total}`,
      received_at: receivedAt,
    }));
  return {
    storages: [...found].map(([storage, { used, total }]) => ({ storage, used, total })),
    stored: [...found].flatMap(([storage, { entries }]) =>
      entries.flatMap(({ line, body }) => storedSms(storage, line, body)),
    ),
    waiting: waiting.slice(0, SHOWN_MAX),
    parts: parts.slice(0, SHOWN_MAX),
  };
}

function storedSms(
  storage: string,
  line: string,
  pdu: string | undefined,
): SlotMessages['stored'][number] | [] {
  const fields = fieldsOf(line);
  const index = integerField(fields, 0);
  const status = STATUSES[integerField(fields, 1) ?? -1];
  if (index === undefined || status === undefined) return [];
  const place = { storage, index, status };
  const unknown = { ...place, address: null, sent_at: null, part: null };
  if (status === 'unsent' || status === 'sent') {
    return { ...unknown, kind: 'unreadable', text: `a message to send: PDU ${pdu ?? ''}` };
  }
  const received = readPdu(pdu ?? '');
  if (received.decoded === undefined) {
    return { ...unknown, kind: 'unreadable', text: `${received.reason}: PDU ${received.pdu}` };
  }
  const { decoded } = received;
  if (decoded.kind === 'statusReport') {
    const { acceptedAt, recipient, messageReference, status: tpStatus } = decoded;
    const text = `report: message ${messageReference}, TP-Status ${tpStatus}`;
    return { ...unknown, kind: 'report', address: recipient, sent_at: acceptedAt, text };
  }
  const { content, concatenation } = decoded.userData;
  return {
    ...place,
    kind: 'message',
    address: decoded.from,
    sent_at: decoded.sentAt,
    text: content.kind === 'octets' ? '8 bit data' : content.text,
    part: concatenation === undefined ? null : `${concatenation.part}/${concatenation.total}`,
  };
}
