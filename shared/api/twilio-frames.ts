// The messages of the Twilio dialect of a call's stream: those of Twilio's Media Streams, and `dtmf` from the client beside them.
import * as z from 'zod';
import { dtmfDigitsSchema } from '../voice/media.ts';

/** From a bot. */
export const twilioClientFrameSchema = z.discriminatedUnion('event', [
  // Padded or not: decoders of bots differ.
  z.object({
    event: z.literal('media'),
    media: z.object({
      payload: z
        .string()
        .regex(/^[\w+/-]*={0,2}$/)
        .meta({ description: 'Mu-law audio, 8 kHz, mono, in base64.' }),
    }),
  }),
  z.object({ event: z.literal('mark'), mark: z.object({ name: z.string().max(256) }) }),
  z.object({ event: z.literal('clear') }).meta({ description: 'Discards audio that was not played.' }),
  z
    .object({ event: z.literal('dtmf'), dtmf: z.object({ digits: dtmfDigitsSchema }) })
    .meta({ description: 'Presses keys. Twilio does not have this message.' }),
]);

const sidField = z.string().meta({ description: 'Id of the stream.' });
const numbered = { sequenceNumber: z.string(), streamSid: sidField };

/** To a bot. */
export const twilioServerFrameSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected'), protocol: z.literal('Call'), version: z.string() }),
  z
    .object({
      event: z.literal('start'),
      ...numbered,
      start: z.object({
        accountSid: z.string().meta({ description: 'The `sub_account_id`.' }),
        callSid: z.string().meta({ description: 'The `call_id`.' }),
        streamSid: sidField,
        tracks: z.array(z.literal('inbound')),
        mediaFormat: z.object({
          encoding: z.literal('audio/x-mulaw'),
          sampleRate: z.literal(8000),
          channels: z.literal(1),
        }),
        customParameters: z.record(z.string(), z.string()),
      }),
    })
    .meta({ description: 'The call is answered.' }),
  z.object({
    event: z.literal('media'),
    ...numbered,
    media: z.object({
      track: z.literal('inbound'),
      chunk: z.string(),
      timestamp: z.string().meta({ description: 'Milliseconds since the start.' }),
      payload: z.string().meta({ description: '20 ms of mu-law audio, 8 kHz, mono, in base64.' }),
    }),
  }),
  z
    .object({
      event: z.literal('dtmf'),
      ...numbered,
      dtmf: z.object({ track: z.literal('inbound_track'), digit: z.string() }),
    })
    .meta({ description: 'The far end pressed a key.' }),
  z
    .object({ event: z.literal('mark'), ...numbered, mark: z.object({ name: z.string() }) })
    .meta({ description: 'All audio before this mark was played or cleared.' }),
  z
    .object({
      event: z.literal('stop'),
      ...numbered,
      stop: z.object({ accountSid: z.string(), callSid: z.string() }),
    })
    .meta({ description: 'The stream ends.' }),
]);
