// Calls through the client library: audio and control of a stream, how it ends, and presence that comes back.
import t from 'tap';
import { privateKeyToAccount } from 'viem/accounts';
import { SimrackClient } from '#control-plane/client/simrack-client.ts';
import type { PresenceEvent, ServerFrame } from '#shared/api/voice-frames.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';
import { ALICE } from '../../dev-stack/wallets.ts';
import { FAR_END, telephone } from '../../fixtures/agents/telephone.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

async function alice(t: Parameters<typeof telephone>[0]) {
  const phone = await telephone(t, rig);
  return { ...phone, client: new SimrackClient({ baseUrl: phone.url, token: phone.token }) };
}

t.test('a call that is dialled: audio both ways, marks, clear, keys, and the cause of its end', async (t) => {
  const { client, line, number } = await alice(t);
  const call = await client.dial({ phone_number: number, to: FAR_END });
  const frames: Uint8Array[] = [];
  const events: ServerFrame[] = [];
  const stream = await client.stream(call.call_id, {
    onAudio: (frame) => frames.push(frame),
    onEvent: (event) => events.push(event),
  });
  line.answer(call.call_id);
  const media = await until('the media link', () => line.media);
  await until('answered', () => events.some(({ type }) => type === 'answered'));
  const spoken = Buffer.alloc(5 * FRAME_BYTES, 3);
  const playing = stream.play(spoken);
  await until('all was played', async () => {
    media.capture(Buffer.alloc(FRAME_BYTES, 7));
    return media.heard.length >= spoken.length && frames.length >= 8;
  });
  t.ok(await playing, 'and said so');
  t.same(media.heard.subarray(0, spoken.length), spoken);
  t.same(Buffer.from(frames[0] ?? []), Buffer.alloc(FRAME_BYTES, 7));
  stream.send(Buffer.alloc(50 * FRAME_BYTES, 5));
  const late = stream.mark();
  const cleared = await stream.clear();
  t.match(cleared, { type: 'cleared', dropped_ms: Number });
  t.equal(await late, false, 'a mark that was cleared is not reached');
  line.end(line.calls[0] ?? line.ring(), { reason: 'remote_hangup', cause: 16 });
  t.match(await stream.ended, { kind: 'call_ended', code: 1000, cause: 16 });
  t.equal(await stream.mark(), false, 'nothing is reached after the end');
  for await (const { call_id, reason } of client.callHistory())
    t.same({ call_id, reason }, { call_id: call.call_id, reason: 'remote_hangup' });
});

t.test('presence reports a ring; its stream answers; closing the stream hangs up', async (t) => {
  const { client, line, number } = await alice(t);
  const events: PresenceEvent[] = [];
  const controller = new AbortController();
  const watching = client.watchCalls(number, {
    onEvent: (event) => events.push(event),
    signal: controller.signal,
  });
  line.ring();
  const ringing = await until('the ring', () => events[0]);
  t.match(ringing, { kind: 'ringing', caller: FAR_END });
  const stream = await client.stream(ringing.call_id);
  await until('answered', () => events.some(({ kind }) => kind === 'answered'));
  stream.close();
  await until('the end', () => events.some(({ kind }) => kind === 'ended'));
  await stream.ended;
  controller.abort();
  await watching;
  t.pass('a watch that is stopped ends');
});

t.test('presence reconnects after a restart, reports nothing twice, and stops with its token', async (t) => {
  const phone = await alice(t);
  const { client, line, number, service, databaseUrl, url } = phone;
  const events: PresenceEvent[] = [];
  const connected: boolean[] = [];
  const watching = client.watchCalls(number, {
    onEvent: (event) => events.push(event),
    onState: (state) => connected.push(state.connected),
    random: () => 0.2,
  });
  watching.catch(() => undefined);
  await until('connected', () => connected.length === 1);
  const call = line.ring();
  await until('the ring', () => events.length === 1);
  await service.stop();
  await until('disconnected', () => connected.includes(false));
  await rig.start(t, { databaseUrl, port: Number(new URL(url).port) });
  await until('connected again', () => connected.at(-1) === true);
  t.same(
    events.map(({ kind, call_id }) => ({ kind, call_id })),
    [{ kind: 'ringing', call_id: call.call_id }],
  );
  await new SimrackClient({ baseUrl: url }).recover({ account: privateKeyToAccount(ALICE.privateKey) });
  await t.rejects(watching, { status: 401, code: 'unauthorized' }, 'the revoked token is not tried again');
});

t.test('a refused stream or presence is an error with the code of the refusal', async (t) => {
  const { client, url, number } = await alice(t);
  const onEvent = (): void => undefined;
  await t.rejects(client.watchCalls('+12065559999', { onEvent }), { name: 'ApiError', status: 404 });
  await t.rejects(new SimrackClient({ baseUrl: url, token: 'nonsense' }).watchCalls(number, { onEvent }), {
    status: 401,
    code: 'unauthorized',
  });
  await t.rejects(new SimrackClient({ baseUrl: url, token: 'nonsense' }).stream('x'), {
    name: 'ApiError',
    status: 401,
  });
  const stream = await client.stream('no-such-call');
  t.match(await stream.ended, { kind: 'call_not_found', code: 4404 });
});

t.test(
  'a minute of speech waits for many marks without a warning, and finish hangs up behind it',
  async (t) => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    t.teardown(() => process.off('warning', onWarning));
    const { client, line, number } = await alice(t);
    const call = await client.dial({ phone_number: number, to: FAR_END });
    const stream = await client.stream(call.call_id);
    line.answer(call.call_id);
    const media = await until('the media link', () => line.media);
    const speech = Buffer.alloc(1_500 * FRAME_BYTES, 3);
    const playing = stream.play(speech);
    let isPlayed = false;
    void playing.then(() => {
      isPlayed = true;
    });
    // Many times faster than a call, in steps of a few frames.
    const timer = setInterval(() => {
      for (let count = 0; count < 8; count += 1) media.capture();
    }, 10);
    t.teardown(() => clearInterval(timer));
    await until('played', () => isPlayed, 30_000);
    clearInterval(timer);
    t.ok(await playing);
    stream.send(Buffer.alloc(20 * FRAME_BYTES, 4));
    stream.finish();
    await until('the goodbye', () => {
      media.capture();
      return line.calls.length === 0;
    });
    t.match(await stream.ended, { kind: 'call_ended', cause: 16 });
    t.equal(media.frames.length, 1_520);
    t.same(warnings, []);
  },
);
