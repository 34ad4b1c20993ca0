// From one client's WebSocket to another's, through two modems and the carrier, and the events that each gets.
import t, { type Test } from 'tap';
import { FRAME_BYTES, SAMPLE_RATE_HZ, samplesOf } from '#shared/voice/media.ts';
import type { ClientSocket } from '../../fixtures/agents/telephone.ts';
import { measureTone, tone } from '../../fixtures/audio/tone.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { voiceStack } from '../../fixtures/stacks/voice-stack.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();
const FRAMES_A_SECOND = 50;

/** Says a tone as a bot does: chunks of 40 ms, twice as fast as real time. */
async function say(client: ClientSocket, samples: Int16Array): Promise<void> {
  const octets = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  for (let at = 0; at < octets.length; at += 2 * FRAME_BYTES) {
    client.socket.send(octets.subarray(at, at + 2 * FRAME_BYTES));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const heard = (client: ClientSocket): Int16Array => samplesOf(Buffer.concat(client.binary));

const WINDOW_SAMPLES = SAMPLE_RATE_HZ / 5;

/** The purest 200 ms: a machine that pauses costs frames, which are counted, and says nothing of the way. */
function purest(samples: Int16Array): ReturnType<typeof measureTone> {
  let best = { sinadDb: Number.NEGATIVE_INFINITY, levelDb: Number.NaN };
  for (let at = 0; at + WINDOW_SAMPLES <= samples.length; at += WINDOW_SAMPLES / 4) {
    const window = samples.subarray(at, at + WINDOW_SAMPLES);
    const measured = measureTone(window, { hz: 1000, rateHz: SAMPLE_RATE_HZ });
    if (measured.sinadDb > best.sinadDb) best = measured;
  }
  return best;
}

const FRAME_SAMPLES = FRAME_BYTES / 2;
const isLoud = (frame: Int16Array): boolean => frame.some((sample) => Math.abs(sample) > 1_000);

/** Two seconds at once, and a hang-up when they were heard: all of them arrive at the other end. */
async function sayGoodbye(t: Test, from: ClientSocket, to: ClientSocket): Promise<void> {
  const sound = tone({ hz: 500, rateHz: SAMPLE_RATE_HZ, seconds: 2 });
  const before = to.binary.length;
  from.socket.send(Buffer.from(sound.buffer, sound.byteOffset, sound.byteLength));
  from.say({ type: 'hangup', when: 'played' });
  await to.closed();
  const samples = samplesOf(Buffer.concat(to.binary.slice(before)));
  let loud = 0;
  for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES)
    if (isLoud(samples.subarray(at, at + FRAME_SAMPLES))) loud += 1;
  t.ok(loud >= 2 * FRAMES_A_SECOND, `${loud} of ${2 * FRAMES_A_SECOND} frames of the goodbye`);
}

for (const make of ['quectel', 'simcom', 'huawei'] as const) {
  t.test(`${make}: two clients talk, press keys, and one hangs up`, async (t) => {
    const { people } = await voiceStack(t, rig, { makes: [make], ringIntervalMs: 500 });
    const [alice, bob] = people as [(typeof people)[0], (typeof people)[0]];
    const bobsPresence = await bob.presence();
    const dialling = alice.dial(bob.number, alice.number);
    const rings = await until('Bob gets the ring', () => bobsPresence.of({ kind: 'ringing' })[0], 20_000);
    t.match(rings, { direction: 'inbound', caller: alice.number, phone_number: bob.number });
    const dialled = await dialling;
    t.match(dialled, { status: 200, body: { direction: 'outbound', caller: bob.number } });
    const callId = String(dialled.body['call_id']);
    const bobsId = String(rings['call_id']);
    const from = await alice.stream(callId);
    const to = await bob.stream(bobsId);
    await until('audio', () => to.binary.length > 20 && from.binary.length > 20, 20_000);
    const sound = tone({ hz: 1000, rateHz: SAMPLE_RATE_HZ, seconds: 3 });
    const before = to.binary.length;
    await say(from, sound);
    from.say({ type: 'mark', name: 'said' });
    await until('the end of it', () => from.of({ type: 'mark', name: 'said' }).length === 1, 20_000);
    await until('all of it', () => to.binary.length > before + 4 * FRAMES_A_SECOND, 20_000);
    const { sinadDb, levelDb } = purest(heard(to));
    t.ok(Math.abs(levelDb) < 0.5, `level ${levelDb.toFixed(2)} dB`);
    t.ok(sinadDb > 40, `SINAD ${sinadDb.toFixed(1)} dB`);
    to.say({ type: 'dtmf', digits: '12#' });
    await until(
      'the keys',
      () =>
        from
          .of({ type: 'dtmf' })
          .map(({ digit }) => digit)
          .join('') === '12#',
      20_000,
    );
    bobsPresence.texts.length = 0;
    if (make === 'quectel') await sayGoodbye(t, from, to);
    else
      t.match(await alice.hangUp(callId), { status: 200, body: { call_id: callId, status: 'hangup_sent' } });
    t.same([await from.closed(), from.closeReason], [1000, '16 normal_clearing']);
    t.equal(await to.closed(), 1000);
    await until('Bob gets the end', () => bobsPresence.of({ kind: 'ended', call_id: bobsId }).length === 1);
    for (const [person, id, reason] of [
      [alice, callId, 'local_hangup'],
      [bob, bobsId, 'remote_hangup'],
    ] as const) {
      const record = await until('a record', async () =>
        (await person.calls()).find((call) => call['call_id'] === id && call['ended_at'] !== null),
      );
      t.match(record, { reason, cause: 16, state: 'ended' });
      t.ok(Number((record['audio'] as { captured_frames: number }).captured_frames) > 150);
    }
  });
}
