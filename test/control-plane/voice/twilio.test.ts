// The stream in Twilio's words: what a bot sends and reads, at twice real time and in chunks of 40 ms.
import t from 'tap';
import { decodeMuLaw, encodeMuLaw } from '#control-plane/voice/streams/mu-law.ts';
import { twilioServerFrameSchema } from '#shared/api/twilio-frames.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import { measureTone, tone } from '../../fixtures/audio/tone.ts';
import { recordedLog } from '../../fixtures/recorded-log.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { instanceCount } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** The requirement of ITU-T G.712 §9 for a PCM channel at this level. */
const G712_SINAD_DB = 33;

async function bot(t: Parameters<typeof telephone>[0], options: Parameters<typeof telephone>[2] = {}) {
  const phone = await telephone(t, rig, options);
  const { call_id: callId } = phone.line.ring();
  const watcher = await phone.presence();
  await until('it rings', () => watcher.texts.length > 0);
  const client = await phone.stream(callId, { protocol: 'twilio', protocols: [] });
  const media = await until('the media link', () => phone.line.media);
  await until('start', () => client.of({ event: 'start' }).length === 1);
  return { phone, callId, client, media };
}

const samplesOf = (bytes: Buffer): Int16Array =>
  new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));

t.test('connected, start, media, dtmf, stop, as a bot reads them', async (t) => {
  const { phone, callId, client, media } = await bot(t);
  t.same(client.texts[0], {
    event: 'connected',
    protocol: 'Call',
    version: '1.0.0',
    ...numbered(client.texts[0]),
  });
  const streamSid = client.texts[1]?.['streamSid'];
  t.match(client.texts[1], {
    event: 'start',
    sequenceNumber: '1',
    streamSid: /^MZ[0-9a-f]{32}$/,
    start: {
      accountSid: phone.subscriptionId,
      streamSid,
      callSid: callId,
      tracks: ['inbound'],
      customParameters: { from_number: FAR_END, to_number: phone.number, direction: 'inbound' },
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
    },
  });
  for (let count = 0; count < 3; count += 1) media.capture();
  await until('audio', () => client.of({ event: 'media' }).length === 3);
  t.match(
    client.of({ event: 'media' }),
    ['1', '2', '3'].map((chunk, index) => ({
      event: 'media',
      sequenceNumber: String(index + 2),
      streamSid,
      media: { track: 'inbound', chunk, timestamp: String(index * 20), payload: String },
    })),
  );
  const { payload = '' } = (client.of({ event: 'media' })[0]?.['media'] ?? {}) as { payload?: string };
  t.same(Buffer.from(payload, 'base64'), Buffer.alloc(160, 0xff), 'silence, 20 ms of it');
  media.say({ type: 'dtmf', digit: '5' });
  await until('a key', () => client.of({ event: 'dtmf' }).length === 1);
  t.match(client.of({ event: 'dtmf' }), [{ dtmf: { track: 'inbound_track', digit: '5' }, streamSid }]);
  const [call] = phone.line.calls;
  if (call !== undefined) phone.line.end(call, { reason: 'remote_hangup', cause: 16 });
  t.equal(await client.closed(), 1000);
  t.equal(client.closeReason, '16 normal_clearing');
  t.match(client.texts.at(-1), { event: 'stop' });
  t.match(client.of({ event: 'stop' }), [{ stop: { callSid: callId }, streamSid }]);
  t.same(client.binary, []);
  for (const text of client.texts)
    t.ok(
      twilioServerFrameSchema.safeParse(text).success,
      `as described: ${JSON.stringify(text).slice(0, 100)}`,
    );

  function numbered(message: object | undefined) {
    return message !== undefined && 'sequenceNumber' in message ? { sequenceNumber: undefined } : {};
  }
});

t.test('a tone comes through in both directions as well as mu-law lets it', async (t) => {
  const { client, media } = await bot(t);
  const sent = tone({ hz: 1_000, rateHz: 8_000, seconds: 2 });
  // As Pipecat sends: chunks of 40 ms, one each 20 ms.
  for (let at = 0; at < sent.length; at += 320) {
    const payload = Buffer.from(encodeMuLaw(sent.subarray(at, at + 320))).toString('base64');
    client.say({ event: 'media', streamSid: 'MZ1', media: { payload } });
  }
  client.say({ event: 'mark', streamSid: 'MZ1', mark: { name: 'said' } });
  for (let count = 0; client.of({ event: 'mark' }).length === 0 && count < 2_000; count += 1) {
    media.capture(new Uint8Array(samples16(count).buffer));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until('the mark', () => client.of({ event: 'mark' }).length === 1);
  t.match(client.of({ event: 'mark' }), [{ mark: { name: 'said' } }]);
  t.equal(media.heard.length, 2 * 16_000 * 2, 'no sample more or less');
  const heard = measureTone(samplesOf(media.heard).subarray(8_000), { hz: 1_000, rateHz: 16_000 });
  t.ok(
    heard.sinadDb > G712_SINAD_DB && Math.abs(heard.levelDb) < 0.5,
    `to the call: SINAD ${heard.sinadDb.toFixed(1)} dB`,
  );
  const received = client
    .of({ event: 'media' })
    .flatMap(({ media }) => [
      ...decodeMuLaw(Buffer.from(String((media as { payload: string }).payload), 'base64')),
    ]);
  const reported = measureTone(Int16Array.from(received.slice(4_000, 12_000)), { hz: 1_000, rateHz: 8_000 });
  t.ok(
    reported.sinadDb > G712_SINAD_DB && Math.abs(reported.levelDb) < 0.5,
    `to the bot: SINAD ${reported.sinadDb.toFixed(1)} dB`,
  );

  function samples16(frame: number): Int16Array {
    const second = tone({ hz: 1_000, rateHz: 16_000, seconds: 1 });
    const at = (frame % 50) * 320;
    return second.slice(at, at + 320);
  }
});

t.test('clear gives the marks back, as Twilio does, and stops the audio', async (t) => {
  const { client, media, phone } = await bot(t);
  const payload = Buffer.alloc(8_000, 0x10).toString('base64');
  client.say({ event: 'media', media: { payload } });
  client.say({ event: 'mark', mark: { name: 'one' } });
  client.say({ event: 'mark', mark: { name: 'two' } });
  media.capture();
  await until('it is being played', () => media.frames.length === 6);
  client.say({ event: 'clear' });
  await until('both marks', () => client.of({ event: 'mark' }).length === 2);
  media.capture();
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(media.frames.length, 6, 'nothing of it comes any more');
  client.say({ event: 'dtmf', dtmf: { digits: '42' } });
  await until('keys', () => media.texts.some((text) => text.type === 'dtmf'));
  client.say({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  client.say({ event: 'something newer', more: { a: 1 } });
  client.say({
    event: 'media',
    media: { payload: Buffer.alloc(160, 0xff).toString('base64').replace(/=+$/, '') },
  });
  client.say({ event: 'mark', mark: { name: 'behind it' } });
  for (let count = 0; count < 8; count += 1) media.capture();
  await until('events of others change nothing', () => media.frames.length === 7);
  t.equal(phone.node.commands('hang_up').length, 0);
});

/** Causes of Twilio's warnings 31950 and 31951 (https://www.twilio.com/docs/api/errors/31951), and what Pipecat and TEN send beside the protocol. */
const USELESS: Array<Buffer | string> = [
  Buffer.alloc(FRAME_BYTES),
  Buffer.from('{"event":"clear"}'),
  'not JSON',
  '[]',
  'null',
  '{"type":"connected","protocol":"Call"}',
  '{"event":"media"}',
  '{"event":"media","media":{"payload":"%%%"}}',
  '{"event":"media","media":{"payload":17}}',
  '{"event":"mark"}',
  '{"event":"mark","mark":{"name":17}}',
  JSON.stringify({ event: 'mark', mark: { name: 'x'.repeat(1_000) } }),
  '{"event":"dtmf","dtmf":{"digits":"HELLO"}}',
  '{"event":"clear all"}',
];

t.test('unusable messages are ignored, and logged once, without their content', async (t) => {
  const { log, lines } = recordedLog();
  const { callId, client, media, phone } = await bot(t, { service: { log } });
  for (let round = 0; round < 3; round += 1) for (const message of USELESS) client.socket.send(message);
  const payload = Buffer.alloc(160, 0x10).toString('base64');
  client.say({ event: 'media', media: { payload } });
  client.say({ event: 'mark', mark: { name: 'heard' } });
  await until('the call goes on', () => {
    media.capture();
    return client.of({ event: 'mark' }).length > 0;
  });
  t.match(client.of({ event: 'mark' }), [{ mark: { name: 'heard' } }]);
  t.equal(media.frames.length, 1, 'no useless message was audio');
  t.same([client.closeCode, phone.node.commands('hang_up').length], [undefined, 0]);
  t.same(
    lines.map(({ fields }) => fields).filter((fields) => 'problem' in fields),
    [{ problem: 'malformed' }, { problem: 'invalid' }],
  );
  client.drop();
  const again = await phone.stream(callId, { protocol: 'twilio', protocols: [] });
  for (const message of USELESS) again.socket.send(message);
  again.say({ event: 'mark', mark: { name: 'again' } });
  await until('all were read', () => again.of({ event: 'mark' }).length > 0);
  const logged = lines.filter(({ fields }) => 'problem' in fields).length;
  t.ok(logged <= 2 * instanceCount(), 'nor when the stream is opened again, at the same instance');
});

t.test('an outbound call that is busy: no start, no stop, and 1000 with the cause', async (t) => {
  const phone = await telephone(t, rig);
  const callId = String((await phone.dial()).body['call_id']);
  const client = await phone.stream(callId, { protocol: 'twilio', protocols: [] });
  await until('connected', () => client.texts.length === 1);
  phone.line.answer(callId);
  await until('start', () => client.of({ event: 'start' }).length === 1);
  t.match(client.of({ event: 'start' })[0]?.['start'], {
    customParameters: { from_number: phone.number, to_number: FAR_END, direction: 'outbound' },
  });
  const next = String((await phone.hangUp(callId)).status);
  t.equal(next, '200');
  t.equal(await client.closed(), 1000);
  const again = await until('the line is free', async () => {
    const { status, body } = await phone.dial();
    return status === 200 ? String(body['call_id']) : undefined;
  });
  const ringing = await phone.stream(again, { protocol: 'twilio', protocols: [] });
  await until('connected', () => ringing.texts.length === 1);
  const [call] = phone.line.calls;
  if (call !== undefined) phone.line.end(call, { reason: 'busy', cause: 17 });
  t.same([await ringing.closed(), ringing.closeReason], [1000, '17 user_busy']);
  t.same(ringing.of({ event: 'stop' }), []);
});

t.test('an unknown protocol is refused', async (t) => {
  const { phone } = await bot(t);
  await t.rejects(phone.stream('call_1', { protocol: 'telegraph' }), /400/);
});
