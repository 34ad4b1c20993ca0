// GET /voice/stream: audio both ways, control, takeover, and the ends of a call, with a scripted node.
import t from 'tap';
import { FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import { conversation, telephone } from '../../fixtures/agents/telephone.ts';
import { ManualClock } from '../../fixtures/clocks/manual-clock.ts';
import { ScriptedMedia } from '../../fixtures/nodes/scripted-media.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { instanceCount } from '../../fixtures/service/several-instances.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** For a clock that stands still: the link of the node needs no time. */
const QUIET = { heartbeatMs: 600_000 };
const HOLD_MS = 400;

/** That many frames, each filled with its number. */
const frames = (count: number, first = 1): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => Buffer.alloc(FRAME_BYTES, first + index)));

t.test('opening the stream of a ringing call answers it, and audio goes both ways', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media, callId } = await conversation(phone);
  t.equal(phone.node.commands('answer').length, 1);
  const baseUrl = instanceCount() === 1 ? null : String;
  t.match(phone.node.commands('open_media')[0]?.params, {
    call_id: callId,
    base_url: baseUrl,
    ticket: String,
  });
  await until('it is reported', () => client.of({ type: 'answered' }).length === 1);
  for (const value of [1, 2, 3]) media.capture(Buffer.alloc(FRAME_BYTES, value));
  await until('the far end is heard', () => client.binary.length === 3);
  t.same(Buffer.concat(client.binary), frames(3), 'frames of 640 bytes, in their order');
  t.ok(client.binary.every(({ length }) => length === FRAME_BYTES));
  client.socket.send(frames(2));
  client.socket.send(frames(1, 3).subarray(0, 100));
  client.socket.send(frames(1, 3).subarray(100));
  await until('the client is heard', () => media.frames.length === 3);
  t.same(media.heard, frames(3));
  t.same(
    media.frames.map(({ sequence }) => sequence),
    [0, 1, 2],
  );
});

t.test('no more is sent than is granted, and the rest when it is', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  client.socket.send(frames(100));
  media.capture();
  await until('the frames that were granted', () => media.frames.length === 6);
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(media.frames.length, 6);
  for (let count = 0; media.frames.length < 100; count += 1) {
    media.capture();
    await until('one more', () => media.frames.length >= Math.min(100, 7 + count));
  }
  t.same(media.heard, frames(100));
});

t.test('a begun frame is filled up when nothing more comes', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  media.capture();
  client.socket.send(Buffer.alloc(10, 9));
  await until('padded', () => {
    media.capture();
    return media.frames.length === 1;
  });
  t.same(media.heard, Buffer.concat([Buffer.alloc(10, 9), Buffer.alloc(FRAME_BYTES - 10)]));
});

t.test('marks come when their audio was played, in both orders of mark and audio', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  client.say({ type: 'mark', name: 'at once' });
  await until('nothing is before it', () => client.of({ type: 'mark', name: 'at once' }).length === 1);
  client.socket.send(frames(10));
  client.say({ type: 'mark', name: 'ten' });
  client.socket.send(frames(5));
  client.say({ type: 'mark', name: 'fifteen' });
  await client.isRead();
  const playedAt: Record<string, number> = {};
  for (let captured = 1; captured <= 20; captured += 1) {
    media.capture();
    await media.isRead();
    await client.isRead();
    for (const { name } of client.of({ type: 'mark' })) playedAt[String(name)] ??= captured - 1;
  }
  // The first capture frame only grants; each one after it says that one frame more was played.
  t.match(playedAt, { ten: 10, fifteen: 15 });
});

t.test('clear: unplayed audio is gone at both ends, and the played part is reported', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  client.socket.send(frames(50));
  client.say({ type: 'mark', name: 'never' });
  for (let count = 0; count < 11; count += 1) {
    media.capture();
    await until('the next one', () => media.frames.length >= Math.min(50, 6 + count));
  }
  client.say({ type: 'clear' });
  await until('cleared', () => client.of({ type: 'cleared' }).length === 1);
  const [cleared] = client.of({ type: 'cleared' });
  t.same(cleared, { type: 'cleared', played_ms: 200, dropped_ms: 800, marks: ['never'] });
  client.socket.send(frames(1, 77));
  media.capture();
  await until('the next frame is played', () => media.frames.at(-1)?.audio[0] === 77);
  // As clients of Vonage say it, with nothing to throw away.
  client.say({ action: 'clear' });
  await until('again', () => client.of({ type: 'cleared' }).length === 2);
  t.match(client.of({ type: 'cleared' })[1], { played_ms: Number, marks: [] });
  t.same(client.of({ type: 'mark' }), [], 'a mark that was cleared is not reached');
});

t.test('a full queue drops the oldest audio, and reports it to the client and in the record', async (t) => {
  const phone = await telephone(t, rig, { service: { playoutQueueMs: 1_000 } });
  const { client, media, callId } = await conversation(phone);
  client.socket.send(frames(60));
  await client.isRead();
  media.capture();
  await until('it is reported', () => client.of({ type: 'overflow' }).length === 1);
  t.same(client.of({ type: 'overflow' }), [{ type: 'overflow', dropped_ms: 200 }]);
  await until('the first that is left', () => media.frames.length > 0);
  t.equal(media.frames[0]?.audio[0], 11);
  t.match(await phone.hangUp(callId), { status: 200 });
  await until('recorded', async () => {
    const [call] = await phone.calls();
    return (call?.['audio'] as { overflow_frames?: number } | null)?.overflow_frames === 10;
  });
});

t.test('a client without the subprotocol sees audio only', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone, { protocols: [] });
  t.equal(client.socket.protocol, '');
  client.say({ type: 'mark', name: 'x' });
  client.say({ type: 'clear' });
  media.say({ type: 'dtmf', digit: '1' });
  media.capture();
  await until('audio', () => client.binary.length === 1);
  t.same(client.texts, []);
});

t.test('an unknown subprotocol is refused, and the open stream keeps the call', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media, callId } = await conversation(phone);
  await t.rejects(phone.stream(callId, { protocols: ['voice.v2'] }), { message: /400/ });
  media.capture();
  await until('audio', () => client.binary.length === 1);
  await phone.stream(callId, { protocols: ['voice.v2', 'voice.v1'] });
  t.equal(await client.closed(), 4409);
});

t.test('an odd length and other nonsense close with 1007, and the call may be taken up again', async (t) => {
  const phone = await telephone(t, rig);
  const { client, callId } = await conversation(phone);
  client.socket.send(Buffer.alloc(641));
  t.equal(await client.closed(), 1007);
  t.match(client.closeReason, /even/);
  const next = await phone.stream(callId);
  next.socket.send('{"type":');
  t.equal(await next.closed(), 1007);
  const last = await phone.stream(callId);
  last.socket.send(Buffer.alloc(2 * 1024 * 1024 + 2));
  t.equal(await last.closed(), 1009, 'more than 2 MiB');
  t.match(last.closeReason, /2 MiB/);
  const wordy = await phone.stream(callId);
  wordy.socket.send(JSON.stringify({ type: 'mark', name: 'x'.repeat(64 * 1024) }));
  t.equal(await wordy.closed(), 1009, 'more than 64 KiB of text');
  const huge = await phone.stream(callId);
  huge.socket.send(Buffer.alloc(3 * 1024 * 1024));
  // The rest of the message may meet a closed connection.
  t.ok([1006, 1009].includes(await huge.closed()));
  if (huge.closeCode === 1009) t.match(huge.closeReason, /long/, 'a reason also where the library closes');
  t.equal(phone.node.commands('hang_up').length, 0);
});

t.test('RIFF headers are taken off; another format closes with what it is', async (t) => {
  const header = (rateHz: number, channels = 1): Buffer => {
    const bytes = Buffer.alloc(44);
    bytes.write('RIFF', 0, 'latin1');
    bytes.write('WAVEfmt ', 8, 'latin1');
    bytes.writeUInt32LE(16, 16);
    bytes.writeUInt16LE(1, 20);
    bytes.writeUInt16LE(channels, 22);
    bytes.writeUInt32LE(rateHz, 24);
    bytes.writeUInt16LE(16, 34);
    bytes.write('data', 36, 'latin1');
    return bytes;
  };
  const phone = await telephone(t, rig);
  const { client, media, callId } = await conversation(phone);
  media.capture();
  for (let index = 0; index < 4; index += 1)
    client.socket.send(Buffer.concat([header(16_000), frames(1, 1 + index)]));
  await until('heard', () => media.frames.length === 4);
  t.same(media.heard, frames(4), 'samples only');
  client.socket.send(Buffer.concat([header(24_000, 2), frames(1)]));
  t.equal(await client.closed(), 1007);
  t.match(client.closeReason, /2 channels, 24000 Hz/);
  const next = await phone.stream(callId);
  next.socket.send(Buffer.concat([Buffer.from('RIFF____WAVELIST'), frames(1)]));
  t.equal(await next.closed(), 1007);
});

t.test('the newer stream takes the call over', async (t) => {
  const phone = await telephone(t, rig);
  const { client, callId } = await conversation(phone);
  client.socket.send(frames(20));
  const next = await phone.stream(callId);
  t.equal(await client.closed(), 4409);
  await until('it is reported', () => next.of({ type: 'answered' }).length === 1);
  next.socket.send(frames(2, 100));
  await until('the newer one is heard', () => {
    phone.line.media?.capture();
    return phone.line.media?.frames.length === 2;
  });
  t.same(phone.line.media?.heard, frames(2, 100), 'and nothing of the older one');
  await until('and hears', () => next.binary.length > 0);
  t.equal(phone.node.commands('hang_up').length, 0);
  if (instanceCount() === 1) t.equal(phone.line.medias.length, 1, 'over the same media link');
});

t.test('a close frame hangs up at once', async (t) => {
  const phone = await telephone(t, rig, { service: { clock: new ManualClock(), ...QUIET } });
  const { client, callId } = await conversation(phone);
  client.socket.close(1000);
  // No time passes.
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
  t.match(phone.node.commands('hang_up')[0]?.params, { call_id: callId });
  await until('recorded', async () => (await phone.calls())[0]?.['reason'] === 'local_hangup');
});

t.test('a broken connection is waited for, and then hung up', async (t) => {
  const clock = new ManualClock();
  const phone = await telephone(t, rig, { service: { clock, streamHoldMs: HOLD_MS, ...QUIET } });
  const { client, callId } = await conversation(phone);
  const isMissed = (): boolean => clock.dueIn(HOLD_MS) > 0;
  client.drop();
  await until('it is missed', isMissed);
  clock.advance(HOLD_MS - 1);
  t.equal(phone.node.commands('hang_up').length, 0);
  const next = await phone.stream(callId);
  await until('it hears', () => {
    phone.line.media?.capture();
    return next.binary.length > 0;
  });
  clock.advance(HOLD_MS);
  if (instanceCount() === 1) t.equal(phone.line.medias.length, 1, 'over the same media link');
  next.drop();
  await until('it is missed', isMissed);
  t.equal(phone.node.commands('hang_up').length, 0, 'it came back');
  clock.advance(HOLD_MS);
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
});

t.test('with no time to wait it is hung up at once', async (t) => {
  const phone = await telephone(t, rig, { service: { streamHoldMs: 0 } });
  const { client } = await conversation(phone);
  client.drop();
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
});

/** Names of ITU-T Q.850, table 1. */
const ENDS: Readonly<Record<number, string>> = {
  16: 'normal_clearing',
  31: 'normal_unspecified',
  38: 'network_out_of_order',
  41: 'temporary_failure',
  120: 'unnamed_cause',
  127: 'interworking',
};

t.test('the far end’s hang-up closes with its cause, by the fact or by the media link', async (t) => {
  const phone = await telephone(t, rig);
  for (const cause of [16, 31, 38, 41, 127, 120]) {
    const { client, callId } = await conversation(phone);
    const call = phone.line.calls.find(({ call_id }) => call_id === callId);
    if (call === undefined) throw new Error('no call');
    if (cause === 31) phone.line.media?.close(4031);
    else phone.line.end(call, { reason: 'remote_hangup', cause });
    t.equal(await client.closed(), cause === 16 ? 1000 : 4000 + cause);
    t.equal(client.closeReason, `${cause} ${ENDS[cause]}`);
    if (cause === 31) phone.line.end(call, { reason: 'remote_hangup', cause });
    await until('recorded', async () => (await phone.calls('?limit=1'))[0]?.['cause'] === cause);
    t.equal(phone.node.commands('hang_up').length, 0);
  }
});

t.test('unknown, ended and other people’s calls close with 4404', async (t) => {
  const phone = await telephone(t, rig);
  const { client, callId } = await conversation(phone);
  const ended = phone.line.calls[0];
  if (ended !== undefined) phone.line.end(ended, { reason: 'remote_hangup', cause: 16 });
  await client.closed();
  for (const id of [callId, 'call_000000000000000000000000', "x' or 1=1", '%E2%98%8E', 'a%00b'])
    t.equal(await (await phone.stream(id)).closed(), 4404, id);
});

t.test('a media link that breaks is opened again, and one that cannot be had ends the call', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  media.socket.terminate();
  const next = await until('a newer one', () => phone.line.medias[1]);
  client.socket.send(frames(1));
  next.capture();
  await until('both ways', () => client.binary.length === 1 && next.frames.length === 1);
  phone.line.opensMedia = false;
  next.socket.terminate();
  t.equal(await client.closed(), 4041);
  await until('hung up', () => phone.node.commands('hang_up').length === 1);
});

t.test('a call that is dialled has its stream before it is answered', async (t) => {
  const phone = await telephone(t, rig);
  const { body } = await phone.dial();
  const callId = String(body['call_id']);
  const client = await phone.stream(callId);
  await until('the media link', () => phone.line.media);
  t.same(client.texts, []);
  phone.line.answer(callId);
  await until('it is reported', () => client.of({ type: 'answered' }).length === 1);
  t.equal(phone.node.commands('answer').length, 0);
});

t.test('a modem that has no audio before the answer is asked again after it', async (t) => {
  const phone = await telephone(t, rig);
  phone.line.opensMedia = false;
  const callId = String((await phone.dial()).body['call_id']);
  const client = await phone.stream(callId);
  await until('refused', () => phone.node.commands('open_media').length === 1);
  phone.line.opensMedia = true;
  phone.line.answer(callId);
  const media = await until('the media link', () => phone.line.media);
  media.capture();
  await until('audio', () => client.binary.length === 1);
  t.equal(phone.node.commands('open_media').length, 2);
});

t.test('a service that stops says so to clients and nodes, and hangs nothing up', async (t) => {
  const phone = await telephone(t, rig);
  const { client, media } = await conversation(phone);
  const watcher = await phone.presence();
  await phone.service.stop();
  t.same([await client.closed(), await watcher.closed()], [1012, 1001]);
  await until('the node', () => media.closeCode === 1001);
  t.equal(phone.node.commands('hang_up').length, 0);
});

t.test('audio of the far end is not kept while no client listens', async (t) => {
  const clock = new ManualClock();
  const phone = await telephone(t, rig, { service: { clock, ...QUIET } });
  phone.line.opensMedia = false;
  const { body } = await phone.dial();
  const client = await phone.stream(String(body['call_id']));
  // Three seconds of it, a tenth at a time, as a person speaks.
  for (let said = 0; said < 150; said += 5) {
    client.socket.send(frames(5));
    await client.isRead();
    clock.advance(5 * FRAME_MS);
  }
  phone.line.opensMedia = true;
  phone.line.answer(String(body['call_id']));
  const media = await until('the media link', () => phone.line.media);
  for (let count = 0; count < 20; count += 1) media.capture();
  await until('the newest', () => media.frames.length > 0);
  await until('it is reported', () => client.of({ type: 'overflow' }).length > 0);
  t.ok(media.frames.length <= 10, `${media.frames.length} frames of 150 were kept`);
});

t.test('an answered call without a stream is hung up', async (t) => {
  const phone = await telephone(t, rig, { service: { unclaimedCallMs: 300 } });
  phone.line.dialled = () => ({ status: 'active' });
  t.match(await phone.dial(), { status: 200 });
  // The instance that dialed and the one with the node's link may both ask for it.
  await until('hung up', () => phone.node.commands('hang_up').length > 0);
  t.match(phone.node.commands('hang_up')[0]?.params, { reason: 'abandoned' });
  await until('recorded', async () => (await phone.calls())[0]?.['state'] === 'ended');
});

t.test('tickets are good once, and nothing else opens a media link', async (t) => {
  const phone = await telephone(t, rig);
  await conversation(phone);
  const { ticket = '' } = (phone.node.commands('open_media')[0]?.params ?? {}) as { ticket?: string };
  for (const shown of [ticket, '', 'x'.repeat(43)])
    await t.rejects(ScriptedMedia.open(phone.url, shown), /status 401/);
});
