// What is said on the WebSockets of calls, in text frames. The binary ones are audio.
import * as z from 'zod';
import { dtmfDigitsSchema } from '../voice/media.ts';
import { causeSchema, endReasonSchema } from '../voice/release-cause.ts';
import { callIdField, countField, numberField, peerField, timeField } from './fields.ts';

/** Clients that want text frames ask for this subprotocol. */
export const VOICE_SUBPROTOCOL = 'voice.v1';

const markNameField = z.string().min(1).max(256);

/** From a client on the stream of a call. */
export const clientFrameSchema = z.union([
  z.object({ type: z.literal('clear') }),
  z.object({ type: z.literal('mark'), name: markNameField }),
  z.object({ type: z.literal('dtmf'), digits: dtmfDigitsSchema }),
  /** As clients of Vonage say it. */
  z.object({ action: z.literal('clear') }).transform(() => ({ type: 'clear' as const })),
]);

/** To a client on the stream of a call, where it asked for `voice.v1`. */
export const serverFrameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('answered') }),
  z.object({ type: z.literal('mark'), name: markNameField }),
  z.object({
    type: z.literal('cleared'),
    played_ms: countField.meta({ description: 'What the far end heard since the last clear.' }),
    dropped_ms: countField,
    marks: z.array(markNameField).readonly().meta({ description: 'Those that were not reached.' }),
  }),
  z.object({ type: z.literal('dtmf'), digit: z.string().regex(/^[0-9*#A-D]$/) }),
  z.object({ type: z.literal('overflow'), dropped_ms: countField }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
export type ServerFrame = z.input<typeof serverFrameSchema>;
export type ClientFrame = z.output<typeof clientFrameSchema>;

const presenceFields = {
  call_id: callIdField,
  direction: z.enum(['inbound', 'outbound']),
  caller: peerField.nullable(),
  phone_number: numberField,
  stream_url: z.url(),
  at: timeField,
};

/** To those who watch a number. */
export const presenceEventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ringing'), ...presenceFields }),
  z.object({ kind: z.literal('answered'), ...presenceFields }),
  z.object({
    kind: z.literal('ended'),
    ...presenceFields,
    reason: endReasonSchema,
    cause: causeSchema,
    duration_ms: countField,
  }),
]);
export type PresenceEvent = z.input<typeof presenceEventSchema>;
