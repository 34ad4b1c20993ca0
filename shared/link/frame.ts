// Text frames of the control link, and the only parser of link JSON. Unknown fields are ignored.
import * as z from 'zod';
import { liveCallSchema } from '../voice/call.ts';
import { commandErrorCodeSchema } from './error-code.ts';
import { alarmsSchema, factSchema, journalDepthSchema, slotEventSchema, slotSchema } from './messages.ts';
import { LINK_FRAME_BYTES_MAX } from './version.ts';

const versionSchema = z.number().int().min(1);
const sequenceSchema = z.number().int().min(0);
const commandIdSchema = z.string().min(1).max(64);

/** Frames that a node sends. */
const nodeFrameSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    version_min: versionSchema,
    version_max: versionSchema,
    /** Identity of the journal that numbers this node's facts; a new journal starts at 1 again. */
    journal_id: z.string().min(8).max(64),
    /** Sequence of the oldest fact that the node still keeps, 0 when it keeps none. */
    oldest_sequence: sequenceSchema,
    slots: z.array(slotSchema).max(256),
    alarms: alarmsSchema.default([]),
    journal_depth: journalDepthSchema,
    /** All that are up. Since version 3. */
    calls: z.array(liveCallSchema).max(256).default([]),
  }),
  z.object({
    type: z.literal('slots'),
    slots: z.array(slotSchema).max(256),
    alarms: alarmsSchema.default([]),
    journal_depth: journalDepthSchema,
  }),
  z.object({ type: z.literal('event'), event: slotEventSchema }),
  /** A call has begun or changed. Since version 3. */
  z.object({ type: z.literal('call'), call: liveCallSchema }),
  z.object({ type: z.literal('fact'), sequence: sequenceSchema.min(1), fact: factSchema }),
  z.object({ type: z.literal('result'), id: commandIdSchema, ok: z.literal(true), result: z.unknown() }),
  z.object({
    type: z.literal('refusal'),
    id: commandIdSchema,
    code: commandErrorCodeSchema,
    message: z.string().max(512),
    /** With `rate_limited`: when another command may pass. */
    retry_after_ms: z.number().int().min(0).optional(),
  }),
]);
export type NodeFrame = z.infer<typeof nodeFrameSchema>;

/** Frames that the control plane sends. */
const serverFrameSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    version: versionSchema,
    /** The server pings (RFC 6455 §5.5.2) this often; a node that misses two leaves the link. */
    heartbeat_ms: z.number().int().min(10),
    /** Facts that may be sent and not yet acknowledged. */
    window: z.number().int().min(1),
    /** Highest sequence of this journal that is committed. */
    acknowledged: sequenceSchema,
  }),
  /** Every fact up to and including `sequence` is committed. */
  z.object({ type: z.literal('ack'), sequence: sequenceSchema }),
  z.object({
    type: z.literal('command'),
    id: commandIdSchema,
    name: z.string().max(64),
    params: z.unknown(),
    /**
     * Time in which the command is worth starting. 0 asks only for the recorded outcome: a node that
     * never saw the id refuses with `deadline_passed`.
     */
    time_left_ms: z.number().int().min(0),
  }),
  /**
   * The server is about to go: open the next link now, and leave this one once that is welcomed. What is in
   * flight may end here within the time.
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
export const encodeFrame = (frame: NodeFrame | ServerFrame): string => encodeText(frame);

/** The same, of a frame as an older version knows it. */
export function encodeText(frame: object): string {
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
  if (!parsed.success) throw new FrameError(z.prettifyError(parsed.error));
  return parsed.data;
}
