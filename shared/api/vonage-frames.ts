// The text messages of the Vonage dialect of a call's stream. Audio is binary.
// https://developer.vonage.com/en/voice/voice-api/guides/websockets
import * as z from 'zod';
import { dtmfDigitsSchema } from '../voice/media.ts';
import { callIdField } from './fields.ts';

/** The longest payload of `notify`, as JSON. */
const PAYLOAD_CHARACTERS_MAX = 1_024;

/** The payload that a bot gets back. */
export const payloadField = z
  .record(z.string(), z.unknown())
  .refine((payload) => JSON.stringify(payload).length <= PAYLOAD_CHARACTERS_MAX);

/** From a bot. */
export const vonageClientFrameSchema = z.discriminatedUnion('action', [
  z.object({ action: z.literal('clear') }).meta({ description: 'Discards audio that was not played.' }),
  z
    .object({ action: z.literal('notify'), payload: payloadField })
    .meta({ description: 'The service sends the payload back when all audio before it was played.' }),
  z
    .object({ action: z.literal('dtmf'), digits: dtmfDigitsSchema })
    .meta({ description: 'Presses keys. Vonage does not have this message.' }),
]);

/** To a bot. */
export const vonageServerFrameSchema = z.discriminatedUnion('event', [
  z
    .object({
      event: z.literal('websocket:connected'),
      'content-type': z.literal('audio/l16;rate=16000'),
      call_id: callIdField,
      from_number: z.string().optional().meta({ description: 'The caller; absent if it is withheld.' }),
      to_number: z.string().optional(),
      direction: z.enum(['inbound', 'outbound']),
    })
    .meta({ description: 'The call is answered. The first message.' }),
  z
    .object({
      event: z.literal('websocket:dtmf'),
      digit: z.string().regex(/^[0-9*#A-D]$/),
      duration: z.number().int().meta({ description: 'Always 0: modems do not measure it.' }),
    })
    .meta({ description: 'The far end pressed a key.' }),
  z
    .object({ event: z.literal('websocket:notify'), payload: payloadField })
    .meta({ description: 'All audio before this `notify` was played.' }),
  z.object({ event: z.literal('websocket:cleared') }).meta({ description: 'The answer to `clear`.' }),
]);
export type VonageServerFrame = z.input<typeof vonageServerFrameSchema>;
