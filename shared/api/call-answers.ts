// The answers about calls, of the public API and of the tools.
import * as z from 'zod';
import {
  answererSchema,
  audioStatisticsSchema,
  directionSchema,
  liveCallStateSchema,
} from '../voice/call.ts';
import { causeSchema, endReasonSchema } from '../voice/release-cause.ts';
import {
  callIdField,
  countField,
  cursorField,
  destinationField,
  numberField,
  peerField,
  timeField,
} from './fields.ts';

/** POST /voice/dial. */
export const dialledSchema = z.object({
  call_id: callIdField,
  stream_url: z.url().meta({ description: 'WebSocket with the audio of the call.' }),
  direction: z.literal('outbound'),
  caller: destinationField,
  phone_number: numberField,
});

/** POST /voice/hangup. */
export const hungUpSchema = z.object({
  call_id: callIdField,
  device_id: z.string().meta({
    description: 'Opaque id of the modem slot that has the call. It is not an IMEI.',
    examples: ['dev_5f0c1a9e77b3d264'],
  }),
  status: z.literal('hangup_sent'),
});

/** A call of GET /voice/calls. */
export const callSchema = z.object({
  call_id: callIdField,
  direction: directionSchema,
  caller: peerField.nullable().meta({ description: 'Number of the far end; null if it is withheld.' }),
  phone_number: numberField,
  state: z.enum([...liveCallStateSchema.options, 'ended']),
  started_at: timeField,
  answered_at: timeField.nullable(),
  ended_at: timeField.nullable(),
  duration_ms: countField
    .nullable()
    .meta({ description: 'Duration of the conversation; null until the call has ended.' }),
  reason: endReasonSchema.nullable(),
  cause: causeSchema.nullable(),
  answered_by: answererSchema.nullable().meta({
    description:
      'Whether a person or a machine answered, if the call was dialed with `detect_machine`; null until it is judged.',
  }),
  audio: audioStatisticsSchema
    .extend({ overflow_frames: countField, undelivered_frames: countField })
    .partial()
    .nullable(),
});

/** GET /voice/calls. */
export const callsSchema = z.object({ calls: z.array(callSchema), next_cursor: cursorField });

const spokenCallFields = {
  call_id: callIdField,
  state: callSchema.shape.state,
  answered_by: callSchema.shape.answered_by,
};

/** The tool say. */
export const saidSchema = z.object({
  ...spokenCallFields,
  is_heard: z.boolean().meta({
    description: 'Whether the far end has heard it: false if it has not answered yet, or the call has ended.',
  }),
  duration_ms: countField.meta({
    description: 'Duration of the speech; 0 if the call ended before there was any.',
  }),
});

/** The tool listen. */
export const heardSchema = z.object({
  ...spokenCallFields,
  is_complete: z.boolean().meta({ description: 'False if the far end was still speaking.' }),
  duration_ms: countField.meta({ description: 'Duration of what was heard; 0 for nothing.' }),
  dropped_ms: countField.meta({ description: 'Audio before it that was dropped: at most 30 s are kept.' }),
  text: z.string().nullable().meta({
    description:
      'The words, if the service recognizes speech. If it does not, the recording is an audio part of the result.',
  }),
  keys: z.string().meta({ description: 'Keys that the far end pressed.' }),
});

/** The tool wait_for_call. */
export const awaitedCallSchema = z.object({
  call: z
    .object({
      call_id: callIdField,
      caller: peerField.nullable().meta({ description: 'Number of the far end; null if it is withheld.' }),
      phone_number: numberField,
      stream_url: z.url(),
      at: timeField,
    })
    .nullable()
    .meta({ description: 'A call that rings; null if none does.' }),
});
