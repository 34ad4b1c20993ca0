// Whether a person or a machine answered: judged from the audio of a stream, at whichever instance it is; in presence, frames and records.
import t, { type Test } from 'tap';
import { FRAME_BYTES, SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { FAR_END, telephone, telephoneClient } from '../../fixtures/agents/telephone.ts';
import { overTheLine, skipWithoutSpeech, spoken } from '../../fixtures/audio/spoken.ts';
import { tone } from '../../fixtures/audio/tone.ts';
import type { ScriptedMedia } from '../../fixtures/nodes/scripted-media.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig({ hasInstances: true });

async function twoInstances(t: Test) {
  const here = await telephone(t, rig);
  const { url } = await rig.start(t, { databaseUrl: here.databaseUrl });
  const there = telephoneClient(t, { url, headers: here.headers, number: here.number });
  const dial = async (more: object = {}) => {
    const request = { phone_number: here.number, to: FAR_END, ...more };
    return String((await there.ask('/voice/dial', request)).body['call_id']);
  };
  return { here, there, dial, line: here.line, record: async () => (await here.calls())[0] };
}

type Two = Awaited<ReturnType<typeof twoInstances>>;

/** A stream through the second instance, of a call that is answered. */
async function streamed({ line, there }: Two, callId: string) {
  const before = line.medias.length;
  const client = await there.stream(callId);
  line.answer(callId);
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
  return { client, media: await until('the media link', () => line.medias[before]) };
}

/** The modem gives this audio. */
function capture(media: ScriptedMedia, samples: Int16Array): void {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  for (let at = 0; at + FRAME_BYTES <= bytes.length; at += FRAME_BYTES)
    media.capture(bytes.subarray(at, at + FRAME_BYTES));
}

const silence = (seconds: number): Int16Array => new Int16Array(seconds * SAMPLE_RATE_HZ);
const beep = (): Int16Array => tone({ hz: 1_000, rateHz: SAMPLE_RATE_HZ, seconds: 0.5 });

t.test('a machine that beeps: the stream, presence at both instances, and the record say so', async (t) => {
  const two = await twoInstances(t);
  const watchers = [await two.here.presence(), await two.there.presence()];
  const callId = await two.dial({ detect_machine: true });
  await until('recorded', async () => (await two.record())?.['state'] === 'ringing');
  t.equal((await two.record())?.['answered_by'], null);
  const { client, media } = await streamed(two, callId);
  capture(media, beep());
  capture(media, silence(8));
  await until('the frame', () => client.of({ type: 'answered_by' }).length === 1);
  t.same(client.of({ type: 'answered_by' }), [{ type: 'answered_by', answered_by: 'machine' }]);
  await until('presence', () => watchers.every(({ texts }) => texts.length === 2));
  for (const { texts } of watchers) {
    t.match(texts[0], { kind: 'answered', call_id: callId });
    t.match(texts[1], {
      kind: 'detected',
      call_id: callId,
      answered_by: 'machine',
      caller: FAR_END,
      at: /Z$/,
    });
  }
  t.match(await two.record(), { state: 'active', answered_by: 'machine' });
  client.socket.close(1000);
  await until('the end', () => watchers.every(({ texts }) => texts.length === 3));
  for (const { texts } of watchers) t.match(texts[2], { kind: 'ended', answered_by: 'machine' });
  t.match(await two.record(), { state: 'ended', answered_by: 'machine' });
});

t.test('a person who says hello and waits', { skip: skipWithoutSpeech() }, async (t) => {
  const two = await twoInstances(t);
  const watcher = await two.here.presence();
  const callId = await two.dial({ detect_machine: true });
  const { client, media } = await streamed(two, callId);
  capture(media, silence(1));
  capture(media, overTheLine(spoken('Hello?', { name: 'en-us+f3', wordsPerMinute: 160, pitch: 50 })));
  capture(media, silence(2));
  await until('presence', () => watcher.texts.length === 2);
  t.match(watcher.texts[1], { kind: 'detected', answered_by: 'human' });
  await until('all audio', () => client.binary.length > 150);
  t.equal(client.binary.at(-1)?.length, FRAME_BYTES, 'the client got every frame as it came');
});

t.test('nothing is judged before the answer, and nothing without a request', async (t) => {
  const two = await twoInstances(t);
  const watchers = [await two.here.presence(), await two.there.presence()] as const;
  const [watcher] = watchers;
  const callId = await two.dial({ detect_machine: true });
  const client = await two.there.stream(callId);
  const media = await until('the media link', () => two.line.media);
  capture(media, beep());
  capture(media, silence(7));
  await until('all audio', () => client.binary.length === 375);
  two.line.answer(callId);
  await until('answered', () => client.of({ type: 'answered' }).length === 1);
  capture(media, silence(0.5));
  client.socket.close(1000);
  // The line is free for a call through the second instance.
  await until('ended for both', () => watchers.every(({ texts }) => texts.length === 2));
  t.match(watcher.texts[1], { kind: 'ended', answered_by: 'unknown' }, 'it ended before it was judged');
  t.match(await two.record(), { answered_by: 'unknown' });

  const second = await two.dial();
  const { client: other, media: link } = await streamed(two, second);
  capture(link, beep());
  capture(link, silence(7));
  await until('all audio', () => other.binary.length === 375);
  other.socket.close(1000);
  await until('ended', () => watcher.texts.length === 4);
  t.notOk('answered_by' in (watcher.texts[3] ?? {}), 'not asked');
  t.match(await two.record(), { call_id: second, answered_by: null });
});

t.test('a call that is not answered has no answerer; a stream that comes late judges nothing', async (t) => {
  const two = await twoInstances(t);
  const watchers = [await two.here.presence(), await two.there.presence()] as const;
  const [watcher] = watchers;
  const callId = await two.dial({ detect_machine: true });
  const [call] = two.line.calls;
  if (call) two.line.end(call, { reason: 'no_answer', cause: 19 });
  await until('ended for both', () => watchers.every(({ texts }) => texts.length === 1));
  t.match(watcher.texts[0], { kind: 'ended', call_id: callId, answered_by: null });

  const late = await two.dial({ detect_machine: true });
  const [ringing] = two.line.calls;
  if (ringing)
    two.line.report({ ...ringing, state: 'active', answered_at: new Date(Date.now() - 6_000).toISOString() });
  await until('answered', () => watcher.texts.length === 2);
  const client = await two.there.stream(late);
  const media = await until('the media link', () => two.line.media);
  capture(media, beep());
  await until('judged', () => client.of({ type: 'answered_by' }).length === 1);
  t.same(client.of({ type: 'answered_by' }), [{ type: 'answered_by', answered_by: 'unknown' }]);
});

t.test('a detect option that is not a boolean is refused', async (t) => {
  const { ask, number } = await telephone(t, rig);
  const refused = await ask('/voice/dial', { phone_number: number, to: FAR_END, detect_machine: 'yes' });
  t.match(refused, { status: 400, body: { error: 'invalid_request', field: 'detect_machine' } });
});
