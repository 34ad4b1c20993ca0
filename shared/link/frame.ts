// Text frames of the control link, and the only parser of link JSON. Unknown fields are ignored.
import * as z from 'zod';
import { liveCallSchema } from '../voice/call.ts';
import { alarmsSchema, factSchema, journalDepthSchema, slotEventSchema } from './messages.ts';
import { pinKeySchema } from './pin-seal.ts';
import { slotSchema } from './slot.ts';
import { LINK_FRAME_BYTES_MAX } from './version.ts';

/** Why a node refuses a command, by code. A refused command was never tried, or its id came before: no part of it reached a modem now. */
export const COMMAND_ERRORS = {
  command_unknown: 'The node does not know this command: it is older than the control plane.',
  params_invalid:
    'The parameters do not fit the command, or the node already tried a command with this id. A repeated text gets its first outcome instead.',
  deadline_passed: 'The time limit of the command has passed. The node did not try it and never will.',
  sim_absent: 'No slot of this node has the SIM.',
  slot_unavailable: 'The slot with the SIM cannot serve it now: modem lost, SIM locked, or not registered.',
  slot_busy: 'A queue of the slot is full.',
  rate_limited:
    'A limit that the node’s operator set for this SIM or recipient is reached. `retry_after_ms` says when to try again.',
  destination_not_allowed: 'The operator of the node does not allow texts or calls to this number.',
  journal_unavailable: 'The node cannot write its journal, so it accepts no commands.',
  line_busy: 'The SIM already has a call.',
  call_unknown: 'No call with this id is in progress, or none is ringing that could be answered.',
} as const satisfies Record<string, string>;
export type CommandErrorCode = keyof typeof COMMAND_ERRORS;
const COMMAND_ERROR_CODES = Object.keys(COMMAND_ERRORS) as [CommandErrorCode, ...CommandErrorCode[]];

export const commandErrorCodeSchema = z.enum(COMMAND_ERROR_CODES);

const versionSchema = z.number().int().min(1);
const sequenceSchema = z.number().int().min(0);
const commandIdSchema = z.string().min(1).max(64);

/** Characters of a frame's problem: a node may have many fields wrong. */
const PROBLEM_LENGTH_MAX = 500;

/** Frames that a node sends. */
export const nodeFrameSchema = z.discriminatedUnion('type', [
  /** The first frame: versions, journal and the state of everything. */
  z.object({
    type: z.literal('hello'),
    version_min: versionSchema,
    version_max: versionSchema,
    /** Identity of the journal, whose facts are numbered from 1. */
    journal_id: z.string().min(8).max(64),
    /** Sequence number of the oldest stored fact; 0 without one. */
    oldest_sequence: sequenceSchema,
    slots: z.array(slotSchema).max(256),
    alarms: alarmsSchema.default([]),
    journal_depth: journalDepthSchema,
    /** All calls in progress. */
    calls: z.array(liveCallSchema).max(256).default([]),
    /** The key that PINs are sealed for; absent if the node takes none. */
    pin_key: pinKeySchema.optional(),
  }),
  /** The state of all slots, whenever it changes. */
  z.object({
    type: z.literal('slots'),
    slots: z.array(slotSchema).max(256),
    alarms: alarmsSchema.default([]),
    journal_depth: journalDepthSchema,
  }),
  /** An event of a slot, for operators. */
  z.object({ type: z.literal('event'), event: slotEventSchema }),
  /** A call began or changed. */
  z.object({ type: z.literal('call'), call: liveCallSchema }),
  /** A fact of the journal. */
  z.object({ type: z.literal('fact'), sequence: sequenceSchema.min(1), fact: factSchema }),
  /** The result of a command. */
  z.object({ type: z.literal('result'), id: commandIdSchema, ok: z.literal(true), result: z.unknown() }),
  /** The node refuses a command and did not try it. */
  z.object({
    type: z.literal('refusal'),
    id: commandIdSchema,
    code: commandErrorCodeSchema,
    message: z.string().max(512),
    /** With `rate_limited`: time until another command may pass. */
    retry_after_ms: z.number().int().min(0).optional(),
  }),
]);
export type NodeFrame = z.infer<typeof nodeFrameSchema>;

/** Frames that the control plane sends. */
export const serverFrameSchema = z.discriminatedUnion('type', [
  /** The answer to `hello`. */
  z.object({
    type: z.literal('welcome'),
    version: versionSchema,
    /** Interval of pings (RFC 6455 §5.5.2). A node that misses two closes the link. */
    heartbeat_ms: z.number().int().min(10),
    /**
     * How long a call stays up without its stream. A node without a link ends a call that has lost its media link for this long.
     */
    stream_hold_ms: z.number().int().min(0).optional(),
    /** Maximum number of unacknowledged facts in flight. */
    window: z.number().int().min(1),
    /** Highest committed sequence number of this journal. */
    acknowledged: sequenceSchema,
  }),
  /** All facts up to and including `sequence` are committed. */
  z.object({ type: z.literal('ack'), sequence: sequenceSchema }),
  /** A command for the node. */
  z.object({
    type: z.literal('command'),
    id: commandIdSchema,
    name: z.string().max(64),
    params: z.unknown(),
    /**
     * Time left to start the command. 0 asks only for the recorded outcome: a node that does not know the id refuses with
     * `deadline_passed`.
     */
    time_left_ms: z.number().int().min(0),
  }),
  /**
   * The control plane is about to stop. The node opens a new link, and closes this one once the new link is welcomed.
   * Commands in flight may finish here within the time.
   */
  z.object({ type: z.literal('drain'), within_ms: z.number().int().min(0) }),
]);
export type ServerFrame = z.infer<typeof serverFrameSchema>;

export class FrameError extends Error {
  override name = 'FrameError';
}

/** Parses a node's frame. Throws `FrameError` for anything else. */
export const parseNodeFrame = (text: string): NodeFrame => parseFrame(nodeFrameSchema, text);

/** Parses a control plane's frame. Throws `FrameError` for anything else. */
export const parseServerFrame = (text: string): ServerFrame => parseFrame(serverFrameSchema, text);

/** The text of a frame. Throws `FrameError` when it is longer than the other side accepts. */
export function encodeFrame(frame: NodeFrame | ServerFrame): string {
  const text = JSON.stringify(frame);
  if (Buffer.byteLength(text) > LINK_FRAME_BYTES_MAX) throw new FrameError('frame too long');
  return text;
}

function parseFrame<T>(schema: z.ZodType<T>, text: string): T {
  if (Buffer.byteLength(text) > LINK_FRAME_BYTES_MAX) throw new FrameError('frame too long');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new FrameError('frame is not JSON', { cause });
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw new FrameError(z.prettifyError(parsed.error).slice(0, PROBLEM_LENGTH_MAX));
  return parsed.data;
}
