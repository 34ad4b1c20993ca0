// All that must survive a kill of the simulator, as records and the state they add up to. Pure.
import { z } from 'zod';

/** Messages heard from modems that are kept for `GET /sms`. */
export const HEARD_MESSAGES_MAX = 10_000;

const memorySchema = z.enum(['SM', 'ME', 'SR']);
const idSchema = z.int().positive();
const instantSchema = z.int();

const storedMessageSchema = z.object({
  /** 0 received unread, 1 received read, 2 stored unsent, 3 stored sent (3GPP TS 27.005 §3.1, `<stat>`). */
  status: z.int().min(0).max(3),
  /** `<length>` of the listing: TPDU octets, without the service centre address. */
  length: z.int().min(0),
  /** Exactly as it goes over the line. */
  pdu: z.string(),
});

/** Says which submitted message a status report is about. */
const reportRequestSchema = z.object({
  imei: z.string(),
  message_reference: z.int(),
  /** Hex of the TP-DA, as it was submitted. */
  recipient: z.string(),
  submitted_at_ms: instantSchema,
});

const waitingMessageSchema = z.object({
  id: idSchema,
  imei: z.string(),
  kind: z.enum(['deliver', 'report']),
  from: z.string(),
  length: z.int().min(0),
  pdu: z.string(),
  /** The sender asked to be told when this is delivered. */
  report: reportRequestSchema.optional(),
});

const heardMessageSchema = z.object({
  id: idSchema,
  at_ms: instantSchema,
  imei: z.string(),
  from: z.string(),
  to: z.string(),
  /** Null for 8 bit data. */
  body: z.string().nullable(),
  encoding: z.enum(['gsm7', '8bit', 'ucs2']),
  pdu: z.string(),
  message_reference: z.int(),
  concat: z.object({ reference: z.int(), total: z.int(), part: z.int() }).nullable(),
});

const slotShape = { imei: z.string(), memory: memorySchema, index: z.int().positive() };

const recordSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('waiting'), message: waitingMessageSchema }),
  /** With `waiting_id` it also takes the message from the carrier. */
  z.object({
    kind: z.literal('stored'),
    ...slotShape,
    message: storedMessageSchema,
    waiting_id: idSchema.optional(),
  }),
  /** The message went to the terminal, not into a store. */
  z.object({ kind: z.literal('taken'), imei: z.string(), waiting_id: idSchema }),
  z.object({ kind: z.literal('status'), ...slotShape, status: z.int().min(0).max(3) }),
  z.object({ kind: z.literal('deleted'), ...slotShape }),
  z.object({ kind: z.literal('heard'), message: heardMessageSchema }),
  z.object({ kind: z.literal('next_id'), id: idSchema }),
  z.object({ kind: z.literal('next_reference'), imei: z.string(), reference: z.int().min(0).max(255) }),
]);

/** One line of the journal: records that hold together or not at all. */
export const recordsSchema = z.array(recordSchema);

/** One change of the state. */
export type RackRecord = z.output<typeof recordSchema>;
/** A message in a slot of a store. */
export type StoredMessage = z.output<typeof storedMessageSchema>;
/** A message or report that the carrier has not delivered yet. */
export type WaitingMessage = z.output<typeof waitingMessageSchema>;
/** A message that a modem has sent. */
export type HeardMessage = z.output<typeof heardMessageSchema>;
/** A status report that somebody waits for. */
export type ReportRequest = z.output<typeof reportRequestSchema>;

/** What belongs to one modem. */
export interface ModemMemories {
  stores: Record<'SM' | 'ME' | 'SR', Map<number, StoredMessage>>;
  /** In the order of acceptance. */
  waiting: Map<number, WaitingMessage>;
  /** TP-MR of the next SUBMIT. */
  nextReference: number;
}

/** Everything that survives. */
export interface RackState {
  nextId: number;
  /** By IMEI. Modems that the rack does not have today keep theirs. */
  modems: Map<string, ModemMemories>;
  /** Oldest first. */
  heard: Map<number, HeardMessage>;
}

/** The state of a rack that was never used. */
export function emptyRackState(): RackState {
  return { nextId: 1, modems: new Map(), heard: new Map() };
}

/** The memories of a modem, made on first use. */
export function memoriesOf(state: RackState, imei: string): ModemMemories {
  let memories = state.modems.get(imei);
  if (memories === undefined) {
    memories = {
      stores: { SM: new Map(), ME: new Map(), SR: new Map() },
      waiting: new Map(),
      nextReference: 0,
    };
    state.modems.set(imei, memories);
  }
  return memories;
}

/** Applies one record to the state, in place. Never fails: a record about something absent changes nothing. */
export function applyRecord(state: RackState, record: RackRecord): void {
  switch (record.kind) {
    case 'waiting':
      memoriesOf(state, record.message.imei).waiting.set(record.message.id, record.message);
      countId(state, record.message.id);
      return;
    case 'stored': {
      const memories = memoriesOf(state, record.imei);
      memories.stores[record.memory].set(record.index, record.message);
      if (record.waiting_id !== undefined) memories.waiting.delete(record.waiting_id);
      return;
    }
    case 'taken':
      memoriesOf(state, record.imei).waiting.delete(record.waiting_id);
      return;
    case 'status': {
      const store = memoriesOf(state, record.imei).stores[record.memory];
      const message = store.get(record.index);
      if (message !== undefined) store.set(record.index, { ...message, status: record.status });
      return;
    }
    case 'deleted':
      memoriesOf(state, record.imei).stores[record.memory].delete(record.index);
      return;
    case 'heard':
      hear(state, record.message);
      return;
    case 'next_id':
      countId(state, record.id - 1);
      return;
    case 'next_reference':
      memoriesOf(state, record.imei).nextReference = record.reference;
  }
}

function countId(state: RackState, usedId: number): void {
  state.nextId = Math.max(state.nextId, usedId + 1);
}

function hear(state: RackState, message: HeardMessage): void {
  state.heard.set(message.id, message);
  memoriesOf(state, message.imei).nextReference = (message.message_reference + 1) & 0xff;
  countId(state, message.id);
  for (const id of state.heard.keys()) {
    if (state.heard.size <= HEARD_MESSAGES_MAX) return;
    state.heard.delete(id);
  }
}

/** The shortest list of records that adds up to `state`. */
export function* recordsOf(state: RackState): Generator<RackRecord> {
  for (const message of state.heard.values()) yield { kind: 'heard', message };
  for (const [imei, memories] of state.modems) {
    yield { kind: 'next_reference', imei, reference: memories.nextReference };
    for (const message of memories.waiting.values()) yield { kind: 'waiting', message };
    for (const memory of memorySchema.options) {
      for (const [index, message] of memories.stores[memory]) {
        yield { kind: 'stored', imei, memory, index, message };
      }
    }
  }
  yield { kind: 'next_id', id: state.nextId };
}
