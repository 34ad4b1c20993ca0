// Every change that must survive a kill of the simulator, as a record of the journal.
import * as z from 'zod';

const memorySchema = z.enum(['SM', 'ME', 'SR']);
const idSchema = z.int().positive();
const instantSchema = z.int();

const storedMessageSchema = z.object({
  /** 0 received unread, 1 received read, 2 stored unsent, 3 stored sent (3GPP TS 27.005 §3.1, `<stat>`). */
  status: z.int().min(0).max(3),
  /** `<length>` of the listing: TPDU octets, without the service center address. */
  length: z.int().min(0),
  /** Exactly as it goes over the line. */
  pdu: z.string(),
  /** The carrier's, for messages that came from it. */
  id: idSchema.optional(),
});

/** Says which submitted message a status report is about. */
const reportRequestSchema = z.object({
  /** The card that the message was sent with. */
  iccid: z.string(),
  message_reference: z.int(),
  /** Hex of the TP-DA, as it was submitted. */
  recipient: z.string(),
  submitted_at_ms: instantSchema,
});

const waitingMessageSchema = z.object({
  id: idSchema,
  /** The card that it is for. */
  iccid: z.string(),
  kind: z.enum(['deliver', 'report']),
  from: z.string(),
  length: z.int().min(0),
  pdu: z.string(),
  /** The sender requested a status report. */
  report: reportRequestSchema.optional(),
});

const heardMessageSchema = z.object({
  id: idSchema,
  at_ms: instantSchema,
  imei: z.string(),
  iccid: z.string(),
  from: z.string(),
  to: z.string(),
  /** Null for 8 bit data. */
  body: z.string().nullable(),
  encoding: z.enum(['gsm7', '8bit', 'ucs2']),
  pdu: z.string(),
  message_reference: z.int(),
  concat: z.object({ reference: z.int(), total: z.int(), part: z.int() }).nullable(),
});

/** `holder` is the card's ICCID for the memory SM, and the modem's IMEI for the others. */
const slotShape = { holder: z.string(), memory: memorySchema, index: z.int().positive() };

const recordSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('waiting'), message: waitingMessageSchema }),
  /** The carrier no longer has it. */
  z.object({
    kind: z.literal('taken'),
    iccid: z.string(),
    message_kind: z.enum(['deliver', 'report']),
    waiting_id: idSchema,
  }),
  z.object({ kind: z.literal('stored'), ...slotShape, message: storedMessageSchema }),
  z.object({ kind: z.literal('status'), ...slotShape, status: z.int().min(0).max(3) }),
  z.object({ kind: z.literal('deleted'), ...slotShape }),
  z.object({ kind: z.literal('heard'), message: heardMessageSchema }),
  /** A card was put into a modem, or the modem has none. */
  z.object({ kind: z.literal('placed'), imei: z.string(), iccid: z.string().nullable() }),
  /** The carrier made a card, beside those that the slots began with. */
  z.object({
    kind: z.literal('issued'),
    card: z.object({ iccid: z.string(), imsi: z.string(), number: z.string() }),
  }),
  z.object({ kind: z.literal('next_id'), id: idSchema }),
  z.object({ kind: z.literal('next_reference'), imei: z.string(), reference: z.int().min(0).max(255) }),
]);

/** One line of the journal: records that hold together or not at all. */
export const recordsSchema = z.array(recordSchema);

/** One change of the state. */
export type RackRecord = z.output<typeof recordSchema>;
/** A card that the carrier made. */
export type IssuedCard = Extract<RackRecord, { kind: 'issued' }>['card'];
/** Where messages lie. */
export type MemoryName = z.output<typeof memorySchema>;
/** A message in a slot of a store. */
export type StoredMessage = z.output<typeof storedMessageSchema>;
/** A message or report that the carrier has not delivered yet. */
export type WaitingMessage = z.output<typeof waitingMessageSchema>;
/** A message that a modem has sent. */
export type HeardMessage = z.output<typeof heardMessageSchema>;
/** A status report that the sender waits for. */
export type ReportRequest = z.output<typeof reportRequestSchema>;
