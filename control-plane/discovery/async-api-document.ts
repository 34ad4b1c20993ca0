// The WebSockets as AsyncAPI 3.1, generated from the schemas that validate their frames.
import type * as z from 'zod';
import { twilioClientFrameSchema, twilioServerFrameSchema } from '#shared/api/twilio-frames.ts';
import {
  clientFrameSchema,
  presenceEventSchema,
  serverFrameSchema,
  VOICE_SUBPROTOCOL,
} from '#shared/api/voice-frames.ts';
import { vonageClientFrameSchema, vonageServerFrameSchema } from '#shared/api/vonage-frames.ts';
import { plainJsonSchema } from './json-schemas.ts';
import { closeCodesText } from './voice-text.ts';

type Json = Record<string, unknown>;

const BEARER = { $ref: '#/components/securitySchemes/bearer' };
const AUDIO =
  'Samples are signed 16 bit little-endian, mono, 16 kHz. Frames from the service have 640 bytes (20 ms). Messages to the service have any even length up to 2 MiB, a minute of audio.';

const CALL_ID = { call_id: { description: 'The `call_id` of POST /voice/dial or of a presence event.' } };

export function asyncApiDocument({ baseUrl, serviceName }: { baseUrl: string; serviceName: string }): Json {
  const { host, protocol, pathname } = new URL(baseUrl);
  return {
    asyncapi: '3.1.0',
    info: {
      title: `${serviceName}: calls`,
      version: '1.0.0',
      contact: { name: serviceName, url: baseUrl },
      license: { name: 'Proprietary', url: baseUrl },
      tags: [{ name: 'voice' }],
      description:
        'Place a call with POST /voice/dial (see /openapi.json), or watch presence for inbound calls. Then open the stream of the call. ' +
        'A token may have 100 WebSockets open by default. The service pings them every 25 seconds.',
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
      stream: streamChannel(),
      twilioStream: twilioChannel(),
      vonageStream: vonageChannel(),
      presence: presenceChannel(),
    },
    operations: operations(),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token, in the Authorization header of the upgrade.',
        },
      },
    },
  };
}

const streamChannel = (): Json => ({
  address: '/voice/stream/{call_id}',
  title: 'The audio of a call',
  description:
    `Opening it answers a call that rings; closing it hangs up. Only clients that ask for the subprotocol \`${VOICE_SUBPROTOCOL}\` ` +
    'get text frames. Audio that comes faster than real time waits, 60 seconds by default, and beyond that the oldest is dropped. ' +
    'A RIFF header in front of the audio is removed. A client may send 3,000 messages at once and 1,000 a second; a text frame, of up to 64 KiB, counts for eight, ' +
    'a long message for one for each 64 KiB. ' +
    `Close codes: ${closeCodesText('stream')}`,
  parameters: CALL_ID,
  messages: {
    spoken: audio('spoken'),
    heard: audio('heard'),
    control: text('control', 'Clear audio, set a mark, press keys, hang up', clientFrameSchema),
    notice: text('notice', 'Answer, marks, cleared audio, keys of the far end, overflow', serverFrameSchema),
  },
  bindings: {
    ws: {
      headers: {
        type: 'object',
        properties: { 'Sec-WebSocket-Protocol': { type: 'string', enum: [VOICE_SUBPROTOCOL] } },
      },
    },
  },
});

const twilioChannel = (): Json => ({
  address: '/voice/stream/{call_id}',
  title: 'The audio of a call, for bots made for Twilio Media Streams',
  description:
    'The same stream with `?protocol=twilio`: mu-law audio of 8 kHz in JSON text frames of up to 1,280 KiB, and no binary frames. ' +
    '`callSid` is the `call_id`, `accountSid` the `sub_account_id`. Beyond Twilio, bots can press keys with `dtmf`. ' +
    'Messages that the service cannot use are ignored. After `stop` the socket closes with 1000.',
  parameters: CALL_ID,
  messages: {
    botMessage: text('botMessage', 'media, mark, clear, dtmf', twilioClientFrameSchema),
    serviceMessage: text(
      'serviceMessage',
      'connected, start, media, dtmf, mark, stop',
      twilioServerFrameSchema,
    ),
  },
  bindings: dialectBinding('twilio'),
});

const vonageChannel = (): Json => ({
  address: '/voice/stream/{call_id}',
  title: 'The audio of a call, for bots made for Vonage',
  description:
    'The same stream with `?protocol=vonage`: binary audio as in the plain stream, and the text messages of Vonage. ' +
    'Messages that the service cannot use are ignored. When the call ends, the socket closes with 1000.',
  parameters: CALL_ID,
  messages: {
    vonageSpoken: audio('vonageSpoken'),
    vonageHeard: audio('vonageHeard'),
    vonageAction: text('vonageAction', 'clear, notify', vonageClientFrameSchema),
    vonageEvent: text('vonageEvent', 'connected, dtmf, notify, cleared', vonageServerFrameSchema),
  },
  bindings: dialectBinding('vonage'),
});

const presenceChannel = (): Json => ({
  address: '/voice/presence/{phone_number}',
  title: 'Calls of a number',
  description:
    'Calls that ring right now are reported first. A client that does not read is disconnected. ' +
    `Close codes: ${closeCodesText('presence')}`,
  parameters: { phone_number: { description: 'E.164, the number of the token.' } },
  messages: { event: text('event', 'A call rings, was answered or has ended', presenceEventSchema) },
});

const operations = (): Json => ({
  speak: operation('receive', 'stream', 'Audio and requests from the client.', ['spoken', 'control']),
  listen: operation('send', 'stream', 'Audio from the far end, and reports about audio.', [
    'heard',
    'notice',
  ]),
  botSpeak: operation('receive', 'twilioStream', 'Audio and requests from the bot.', ['botMessage']),
  botListen: operation('send', 'twilioStream', 'Audio from the far end, and reports about audio.', [
    'serviceMessage',
  ]),
  vonageSpeak: operation('receive', 'vonageStream', 'Audio and requests from the bot.', [
    'vonageSpoken',
    'vonageAction',
  ]),
  vonageListen: operation('send', 'vonageStream', 'Audio from the far end, and reports about audio.', [
    'vonageHeard',
    'vonageEvent',
  ]),
  watch: operation('send', 'presence', 'Events of calls.', ['event']),
});

const text = (name: string, summary: string, schema: z.ZodType): Json => ({
  name,
  summary,
  contentType: 'application/json',
  payload: plainJsonSchema(schema),
});

const audio = (name: string): Json => ({
  name,
  summary: AUDIO,
  contentType: 'audio/L16;rate=16000;channels=1',
  payload: { type: 'string', format: 'binary' },
});

const dialectBinding = (protocol: string): Json => ({
  ws: {
    query: {
      type: 'object',
      required: ['protocol'],
      properties: { protocol: { type: 'string', const: protocol } },
    },
  },
});

/** Directions are those of the service. */
const operation = (
  action: 'send' | 'receive',
  channel: string,
  description: string,
  messages: readonly string[],
): Json => ({
  action,
  description,
  channel: { $ref: `#/channels/${channel}` },
  messages: messages.map((message) => ({ $ref: `#/channels/${channel}/messages/${message}` })),
});
