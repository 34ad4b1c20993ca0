// Calls in the published files: the part of /llms.txt with presence, audio, text frames and the Twilio dialect; the close codes.
import { VOICE_SUBPROTOCOL } from '#shared/api/voice-frames.ts';
import { PRESENCE_CLOSE, STREAM_CLOSE } from '#shared/voice/close-code.ts';

export const voiceText = (socketUrl: string): string => `## Calls

All WebSockets take the same \`Authorization\` header.

1. To place a call: \`POST /voice/dial\` with \`{"phone_number": "<yours>", "to": "+1…"}\`. It answers with \`call_id\` and \`stream_url\` when
   the far end rings or has answered.
2. To take calls: keep \`${socketUrl}/voice/presence/<your number>\` open. It sends events with a \`kind\`: \`ringing\`, \`answered\`, \`ended\`.
   Each has \`call_id\`, \`direction\`, \`caller\`, \`phone_number\`, \`stream_url\`, \`at\`; \`ended\` also \`reason\`, \`cause\`, \`duration_ms\`.
3. Open \`stream_url\` as a WebSocket. This answers a call that rings. Closing it hangs up, and so does \`POST /voice/hangup\`.

Audio is binary frames, both ways: 16 kHz, mono, signed 16 bit little-endian PCM. Frames from the service have 640 bytes (20 ms). Frames to
the service have any even length up to 64 KiB. Audio that you send faster than real time waits, 60 seconds by default; beyond that the oldest is
dropped. You may send 3,000 messages at once and 1,000 a second; a text frame counts for eight.

Control is JSON in text frames. You get text frames only if you ask for the subprotocol \`${VOICE_SUBPROTOCOL}\`. To the service:

- \`{"type":"clear"}\` (or \`{"action":"clear"}\`): discard audio that was not played, so that the far end can interrupt.
- \`{"type":"mark","name":"…"}\`: a mark; the service sends it back when all audio before it was played.
- \`{"type":"dtmf","digits":"12#"}\`: press 1 to 32 keys of 0-9, *, #, A-D.

From the service:

- \`{"type":"answered"}\`: the call is answered.
- \`{"type":"mark","name":"…"}\`: this mark was reached.
- \`{"type":"cleared","played_ms":…,"dropped_ms":…,"marks":[…]}\`: the answer to \`clear\`; \`marks\` were not reached.
- \`{"type":"dtmf","digit":"1"}\`: the far end pressed a key.
- \`{"type":"overflow","dropped_ms":…}\`: you sent too far ahead, and this much audio was dropped.
- \`{"type":"error","message":"…"}\`: the service did not understand your last text frame.

Close codes: ${closeCodesText('stream')}

Bots made for Twilio Media Streams connect to \`stream_url\` with \`?protocol=twilio\`. All messages are JSON text frames with an \`event\`, up
to 1,280 KiB; audio is base64 of mu-law, 8 kHz. The service sends \`connected\`, \`start\` (when the call is answered), \`media\`, \`dtmf\`,
\`mark\`, \`stop\`. The bot sends \`media\`, \`mark\`, \`clear\`, and beyond Twilio \`{"event":"dtmf","dtmf":{"digits":"12#"}}\`. \`callSid\` is the
\`call_id\`, \`accountSid\` the \`sub_account_id\`.`;

/** Turns "userGone" into "user gone". */
const words = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const listed = (codes: Readonly<Record<string, number>>): string =>
  Object.entries(codes)
    .map(([name, code]) => `${code} ${words(name)}`)
    .join(', ');

/** After the codes of `again` a client can open the socket again: the call continues. */
export function closeCodesText(socket: 'stream' | 'presence'): string {
  if (socket === 'presence') return `${listed(PRESENCE_CLOSE)}.`;
  const { goingAway, internalError, restart } = STREAM_CLOSE;
  const again = [goingAway, internalError, restart].join(', ');
  return `4000 plus the cause of ITU-T Q.850 after the end of the call; ${listed(STREAM_CLOSE)}. After ${again} or a broken connection open the stream again: the call stays up for 5 seconds by default.`;
}
