// Calls in the published files: the part of /llms.txt with presence, audio, text frames and the dialects of Twilio and Vonage; the close codes.
import { VOICE_SUBPROTOCOL } from '#shared/api/voice-frames.ts';
import { PRESENCE_CLOSE, STREAM_CLOSE } from '#shared/voice/close-code.ts';

export const voiceText = (socketUrl: string): string => `## Calls

All WebSockets take the same \`Authorization\` header.

1. To place a call: \`POST /voice/dial\` with \`{"phone_number": "<yours>", "to": "+1…"}\`. It answers with \`call_id\` and \`stream_url\` when
   the far end rings or has answered. With \`"detect_machine": true\` you learn if a person or a machine answered: \`answered_by\` is \`human\`,
   \`machine\` or \`unknown\`, in the presence event \`detected\`, in \`ended\`, and in the record of \`GET /voice/calls\`. Open the stream while it rings.
2. To take calls: keep \`${socketUrl}/voice/presence/<your number>\` open. It sends events with a \`kind\`: \`ringing\`, \`answered\`, \`detected\`, \`ended\`.
   Each has \`call_id\`, \`direction\`, \`caller\`, \`phone_number\`, \`stream_url\`, \`at\`; \`ended\` also \`reason\`, \`cause\`, \`duration_ms\`.
3. Open \`stream_url\` as a WebSocket. This answers a call that rings. Closing it hangs up, and so does \`POST /voice/hangup\`.

Audio is binary frames, both ways: 16 kHz, mono, signed 16 bit little-endian PCM. Frames from the service have 640 bytes (20 ms). Frames to
the service have any even length up to 2 MiB. Audio that you send faster than real time waits, 60 seconds by default; beyond that the oldest is
dropped. You may send 3,000 messages at once and 1,000 a second; a text frame, of up to 64 KiB, counts for eight, a long message for one
for each 64 KiB.

Control is JSON in text frames. You get text frames only if you ask for the subprotocol \`${VOICE_SUBPROTOCOL}\`. To the service:

- \`{"type":"clear"}\` (or \`{"action":"clear"}\`): discard audio that was not played, so that the far end can interrupt.
- \`{"type":"mark","name":"…"}\`: a mark; the service sends it back when all audio before it was played.
- \`{"type":"dtmf","digits":"12#"}\`: press 1 to 32 keys of 0-9, *, #, A-D.
- \`{"type":"hangup","when":"played"}\`: hang up when the far end has heard all that you sent before. Closing the stream drops it.

From the service:

- \`{"type":"answered"}\`: the call is answered.
- \`{"type":"mark","name":"…"}\`: this mark was reached.
- \`{"type":"cleared","played_ms":…,"dropped_ms":…,"marks":[…]}\`: the answer to \`clear\`; \`marks\` were not reached.
- \`{"type":"answered_by","answered_by":"human"}\`: who answered, if you asked with \`detect_machine\`.
- \`{"type":"dtmf","digit":"1"}\`: the far end pressed a key.
- \`{"type":"overflow","dropped_ms":…}\`: you sent too far ahead, and this much audio was dropped.
- \`{"type":"error","message":"…"}\`: the service did not understand your last text frame.

Close codes: ${closeCodesText('stream')}

Bots made for Twilio Media Streams connect to \`stream_url\` with \`?protocol=twilio\`. All messages are JSON text frames with an \`event\`, up
to 1,280 KiB; audio is base64 of mu-law, 8 kHz. The service sends \`connected\`, \`start\` (when the call is answered), \`media\`, \`dtmf\`,
\`mark\`, \`stop\`. The bot sends \`media\`, \`mark\`, \`clear\`, and beyond Twilio \`{"event":"dtmf","dtmf":{"digits":"12#"}}\`. \`callSid\` is the
\`call_id\`, \`accountSid\` the \`sub_account_id\`. \`customParameters\` has \`from_number\`, \`to_number\`, \`direction\`. Messages that the service
cannot use are ignored. After \`stop\` the socket closes with 1000.

Bots made for Vonage (also Pipecat's Vonage serializer) connect with \`?protocol=vonage\`. Audio is the same binary L16, 16 kHz. The service
sends \`{"event":"websocket:connected"}\` (when the call is answered; with \`call_id\`, \`from_number\`, \`to_number\`, \`direction\`),
\`{"event":"websocket:dtmf","digit":"1"}\`, \`{"event":"websocket:notify"}\`, \`{"event":"websocket:cleared"}\`. The bot sends
\`{"action":"clear"}\`, \`{"action":"notify","payload":{…}}\` and, beyond Vonage, \`{"action":"dtmf","digits":"12#"}\`. The socket closes with 1000 when the call ends.

Agents without a media program talk by MCP tools: \`dial_call\` or \`wait_for_call\`, then \`listen\` and \`say\` with the \`call_id\`, one at a
time, and \`hangup_call\`. \`listen\` returns the words or a recording; \`say\` is offered if the operator configured a voice. While a WebSocket is open on
the call, these tools are refused. 60 seconds after the last tool the service hangs up.

Bots that are servers (Pipecat's runner, OpenAI's example, TwiML) are connected by \`simrack bridge\`, which runs beside the bot.`;

/** Turns "userGone" into "user gone". */
const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const listed = (codes: Readonly<Record<string, number>>): string =>
  Object.entries(codes)
    .map(([name, code]) => `${code} ${words(name)}`)
    .join(', ');

/** After the codes of `again` a client can open the socket again: the call continues. */
export function closeCodesText(socket: 'stream' | 'presence'): string {
  if (socket === 'presence') return `${listed(PRESENCE_CLOSE)}.`;
  const { goingAway, invalidData, tooManyMessages, tooBig, internalError, restart, tokenEnded } =
    STREAM_CLOSE;
  const again = [goingAway, invalidData, tooManyMessages, tooBig, internalError, restart, tokenEnded].join(
    ', ',
  );
  return `after the end of the call 1000 with the reason \`16 normal_clearing\`, or 4000 plus the cause of ITU-T Q.850 with its name as the reason; ${listed(STREAM_CLOSE)}. After ${again} or a broken connection the call stays up for 5 seconds by default: open the stream again (after ${tokenEnded} with a new token).`;
}
