// A call in the messages between node and control plane.
import * as z from 'zod';
import { iccidSchema } from '../identities.ts';
import { causeSchema, endReasonSchema } from './release-cause.ts';

const timestampSchema = z.iso.datetime({ offset: true });

/** Given by the control plane to calls that it dials and by the node to those that come in; unique in the service. */
export const callIdSchema = z.string().regex(/^[A-Za-z0-9_-]{8,64}$/);

export const directionSchema = z.enum(['inbound', 'outbound']);
export type CallDirection = z.infer<typeof directionSchema>;

/**
 * Outbound: `dialing`, `ringing` once the far end is alerted (3GPP TS 27.007 §7.18, <stat> 3), `active`. Inbound:
 * `ringing`, `active`. The fact `call_ended` reports the end.
 */
export const liveCallStateSchema = z.enum(['dialing', 'ringing', 'active']);
export type LiveCallState = z.infer<typeof liveCallStateSchema>;

/** The party that answered: `unknown` if it could not be judged. */
export const answererSchema = z.enum(['human', 'machine', 'unknown']);
export type Answerer = z.infer<typeof answererSchema>;

/** Answerer of a call whose client asked who answers: `undecided` until it is judged. */
export type AskedAnswerer = Answerer | 'undecided';

/** A call in progress. The last state wins; it is not a fact. */
export const liveCallSchema = z.object({
  call_id: callIdSchema,
  iccid: iccidSchema,
  direction: directionSchema,
  state: liveCallStateSchema,
  /** The far end: E.164 if it is an international number, otherwise as received; null if it is withheld. */
  peer: z.string().max(32).nullable(),
  /** When the call was dialed, or first rang. */
  started_at: timestampSchema,
  answered_at: timestampSchema.nullable(),
  /** Whether its media link is open; absent before the first one. */
  has_media: z.boolean().optional(),
});
export type LiveCall = z.infer<typeof liveCallSchema>;

const countSchema = z.number().int().min(0);

/** Counts of audio frames of 20 ms, and of gaps. */
export const audioStatisticsSchema = z.object({
  /** Frames captured from the modem. */
  captured_frames: countSchema,
  /** Frames of the client that the modem played. */
  played_frames: countSchema,
  /** How many times the modem got silence in the middle of the client's audio, because a frame was late. */
  late_frames: countSchema,
  /** Frames of the client that the node dropped because the modem accepted none. */
  dropped_frames: countSchema,
  /** Frames of the modem that the node dropped because the link to the control plane was too slow. */
  lost_frames: countSchema,
  /** How many times the modem sent nothing for more than 100 ms, or octets were lost between frames. */
  capture_gaps: countSchema,
  /** How many times the buffer of the modem's sound card ran empty or full. */
  xruns: countSchema.default(0),
});
export type AudioStatistics = z.infer<typeof audioStatisticsSchema>;

/** A call ended. */
export const callEndedSchema = z.object({
  kind: z.literal('call_ended'),
  call_id: callIdSchema,
  iccid: iccidSchema,
  direction: directionSchema,
  peer: z.string().max(32).nullable(),
  started_at: timestampSchema,
  answered_at: timestampSchema.nullable(),
  ended_at: timestampSchema,
  reason: endReasonSchema,
  /** Cause of ITU-T Q.850. */
  cause: causeSchema,
  /** Audio statistics; null if the call had no audio. */
  audio: audioStatisticsSchema.nullable(),
});
export type CallEnded = z.infer<typeof callEndedSchema>;

/** The outcome of an attempt to dial. */
export const dialOutcomeSchema = z.discriminatedUnion('status', [
  /** The far end rings or has answered. */
  z.object({ status: z.literal('ringing') }),
  z.object({ status: z.literal('active') }),
  z.object({ status: z.literal('ended'), reason: endReasonSchema, cause: causeSchema }),
]);
export type DialOutcome = z.infer<typeof dialOutcomeSchema>;
