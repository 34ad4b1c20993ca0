// The stream in Vonage's words. The bot sends and expects the messages of Pipecat's serializer
// (pipecat-ai/pipecat, src/pipecat/serializers/vonage.py and transports/websocket/client.py, August 2026) and of Vonage's guide
// (https://developer.vonage.com/en/voice/voice-api/guides/websockets).
import t, { type Test } from 'tap';
import { vonageServerFrameSchema } from '#shared/api/vonage-frames.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { conversation, FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** Pipecat’s client transport adds this header to what its serializer made (`add_wav_header`), here for 640 bytes at 16 kHz. */
const WAV_HEADER = Buffer.from('UklGRqQCAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YYACAAA=', 'base64');

async function bot(t: Test, options: Parameters<typeof telephone>[2] = {}) {
  const phone = await telephone(t, rig, options);
  const { client, media, callId } = await conversation(phone, { protocol: 'vonage', protocols: [] });
  await until('connected', () => client.texts.length > 0);
  return { phone, client, media, callId };
}

t.test('connected, audio, dtmf and the end, as Pipecat’s serializer reads them', async (t) => {
  const { phone, client, media, callId } = await bot(t);
  t.same(client.texts, [
    {
      event: 'websocket:connected',
      'content-type': 'audio/l16;rate=16000',
      call_id: callId,
      from_number: FAR_END,
      to_number: phone.number,
      direction: 'inbound',
    },
  ]);
  for (const value of [1, 2, 3]) media.capture(Buffer.alloc(FRAME_BYTES, value));
  await until('audio', () => client.binary.length === 3);
  t.same(
    client.binary,
    [1, 2, 3].map((value) => Buffer.alloc(FRAME_BYTES, value)),
    'L16 at 16 kHz in messages of 20 ms',
  );
  // The serializer reads `digit` at the top level, as a text.
  media.say({ type: 'dtmf', digit: '#' });
  await until('a key', () => client.texts.length === 2);
  t.same(client.texts[1], { event: 'websocket:dtmf', digit: '#', duration: 0 });
  const [call] = phone.line.calls;
  if (call !== undefined) phone.line.end(call, { reason: 'remote_hangup', cause: 31 });
  t.same([await client.closed(), client.closeReason], [1000, '31 normal_unspecified']);
  for (const text of client.texts)
    t.ok(vonageServerFrameSchema.safeParse(text).success, JSON.stringify(text));
});

t.test('audio of the bot, with and without a header; an interruption; notify', async (t) => {
  const { client, media } = await bot(t);
  client.socket.send(Buffer.concat([WAV_HEADER, Buffer.alloc(FRAME_BYTES, 1)]));
  client.socket.send(Buffer.alloc(FRAME_BYTES, 2));
  client.say({ action: 'notify', payload: { customKey: 'customValue' } });
  await until('heard', () => {
    media.capture();
    return client.of({ event: 'websocket:notify' }).length > 0;
  });
  t.same(media.heard, Buffer.concat([Buffer.alloc(FRAME_BYTES, 1), Buffer.alloc(FRAME_BYTES, 2)]));
  t.same(client.of({ event: 'websocket:notify' }), [
    { event: 'websocket:notify', payload: { customKey: 'customValue' } },
  ]);
  client.socket.send(Buffer.alloc(100 * FRAME_BYTES, 3));
  client.say({ action: 'notify', payload: { never: true } });
  client.say({ action: 'clear' });
  await until('cleared', () => client.of({ event: 'websocket:cleared' }).length === 1);
  t.same(client.of({ event: 'websocket:cleared' }), [{ event: 'websocket:cleared' }]);
  const before = media.frames.length;
  for (let count = 0; count < 10; count += 1) media.capture();
  client.socket.send(Buffer.alloc(FRAME_BYTES, 4));
  await until('the next frame', () => {
    media.capture();
    return media.frames.at(-1)?.audio[0] === 4;
  });
  t.equal(media.frames.length, before + 1, 'nothing that was cleared');
  t.equal(client.of({ event: 'websocket:notify' }).length, 1, 'nor its notify');
});

t.test('messages that it cannot use are ignored, and logged once', async (t) => {
  const { log, lines } = recordedLog();
  const { client, media, phone } = await bot(t, { service: { log } });
  const useless: Array<string | Buffer> = [
    'not JSON',
    '{"event":"clearAudio"}',
    '{"action":"notify"}',
    '{"action":"notify","payload":"text"}',
    JSON.stringify({ action: 'notify', payload: { long: 'x'.repeat(2_000) } }),
    '{"action":"hello"}',
    Buffer.alloc(641),
    Buffer.concat([WAV_HEADER.fill(0x40, 24, 25), Buffer.alloc(FRAME_BYTES)]),
  ];
  for (const message of useless) client.socket.send(message);
  client.socket.send(Buffer.alloc(FRAME_BYTES, 5));
  await until('the call goes on', () => {
    media.capture();
    return media.frames.length > 0;
  });
  t.same(media.heard, Buffer.alloc(FRAME_BYTES, 5));
  t.same([client.closeCode, phone.node.commands('hang_up').length], [undefined, 0]);
  t.same(
    lines.map(({ fields }) => fields).filter((fields) => 'problem' in fields),
    [{ problem: 'malformed' }, { problem: 'invalid' }],
  );
});

t.test('a dialled call: connected comes with the answer, and no audio before it', async (t) => {
  const phone = await telephone(t, rig);
  const callId = String((await phone.dial()).body['call_id']);
  const client = await phone.stream(callId, { protocol: 'vonage', protocols: [] });
  const media = await until('the media link', () => phone.line.media);
  media.capture(Buffer.alloc(FRAME_BYTES, 1));
  // The answer comes over another connection.
  await media.isRead();
  phone.line.answer(callId);
  await until('connected', () => client.texts.length === 1);
  t.match(client.texts, [{ from_number: phone.number, to_number: FAR_END, direction: 'outbound' }]);
  media.capture(Buffer.alloc(FRAME_BYTES, 2));
  await until('audio', () => client.binary.length > 0);
  t.same(client.binary, [Buffer.alloc(FRAME_BYTES, 2)]);
});

t.test('a mark of a client with another protocol is none of its', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media, callId } = await conversation(phone);
  client.socket.send(Buffer.alloc(FRAME_BYTES, 1));
  client.say({ type: 'mark', name: 'greeting' });
  await until('it is queued', () => {
    if (media.frames.length === 0) media.capture();
    return media.frames.length === 1;
  });
  client.drop();
  const next = await phone.stream(callId, { protocol: 'vonage', protocols: [] });
  await until('played, and it hears', () => {
    phone.line.media?.capture();
    return next.binary.length > 3;
  });
  t.same(next.of({ event: 'websocket:notify' }), []);
  t.equal(next.closeCode, undefined);
});
