// The WebSockets as AsyncAPI 3.1, made of the schemas that check their frames.
import type * as z from 'zod';
import { clientFrameSchema, presenceEventSchema, serverFrameSchema } from '#shared/api/voice-frames.ts';
import { plainJsonSchema } from './json-schemas.ts';

type Json = Record<string, unknown>;

const BEARER = { $ref: '#/components/securitySchemes/bearer' };
const AUDIO =
  'Signed 16 bit little-endian, mono, 16 kHz. Frames of the service have 640 octets, 20 ms; to it any even length up to 64 KiB.';

export function asyncApiDocument({ baseUrl, serviceName }: { baseUrl: string; serviceName: string }): Json {
  const { host, protocol, pathname } = new URL(baseUrl);
  const text = (name: string, summary: string, schema: z.ZodType): Json => ({
    ...{ name, summary, contentType: 'application/json', payload: plainJsonSchema(schema) },
  });
  const audio = (name: string): Json => ({
    ...{ name, summary: AUDIO, contentType: 'audio/L16;rate=16000;channels=1' },
    payload: { type: 'string', format: 'binary' },
  });
  return {
    asyncapi: '3.1.0',
    info: {
      title: `${serviceName}: calls`,
      version: '1.0.0',
      contact: { name: serviceName, url: baseUrl },
      license: { name: 'Proprietary', url: baseUrl },
      tags: [{ name: 'voice' }],
      description:
        'A call is dialled with POST /voice/dial, or comes in and is told by presence; see /openapi.json.',
    },
    servers: {
      service: {
        host,
        ...(pathname === '/' ? {} : { pathname }),
        protocol: protocol === 'https:' ? 'wss' : 'ws',
        security: [BEARER],
      },
    },
    defaultContentType: 'application/json',
    channels: {
      stream: {
        address: '/voice/stream/{call_id}',
        title: 'The audio of a call',
        description:
          'Answers a call that rings; closing it hangs up. Text frames come only to clients of the subprotocol `voice.v1`. ' +
          'Closed with 4000 and the cause of ITU-T Q.850 when the call ends; 4401 token, 4404 no such call, 4409 a newer stream, ' +
          '1001 and 1012 a restart: come again, 1007 and 1009 audio of no or too many samples, 1008 too many messages. ' +
          '`?protocol=twilio` speaks Twilio’s media streams instead.',
        parameters: { call_id: { description: 'Of POST /voice/dial, or of a presence event.' } },
        messages: {
          spoken: audio('spoken'),
          heard: audio('heard'),
          control: text('control', 'What to do with audio that waits, and keys to press', clientFrameSchema),
          notice: text('notice', 'What became of it', serverFrameSchema),
        },
      },
      presence: {
        address: '/voice/presence/{phone_number}',
        title: 'Calls of a number',
        description:
          'Calls that ring right now are told first. Closed with 4401 when the token is not good any more, 1001 on a restart; ' +
          'cut off where the client does not read.',
        parameters: { phone_number: { description: 'E.164, the number of the token.' } },
        messages: { event: text('event', 'A call rings, was answered, has ended', presenceEventSchema) },
      },
    },
    operations: {
      speak: operation('receive', 'stream', 'What the client says, and what it wants.', [
        'spoken',
        'control',
      ]),
      listen: operation('send', 'stream', 'What the far end says, and what became of audio.', [
        'heard',
        'notice',
      ]),
      watch: operation('send', 'presence', 'Calls as they come and go.', ['event']),
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'In the Authorization header of the upgrade.',
        },
      },
    },
  };
}

/** Directions are those of the service. */
const operation = (
  action: 'send' | 'receive',
  channel: string,
  description: string,
  messages: readonly string[],
): Json => ({
  ...{ action, description },
  channel: { $ref: `#/channels/${channel}` },
  messages: messages.map((message) => ({ $ref: `#/channels/${channel}/messages/${message}` })),
});
