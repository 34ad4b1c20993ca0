// Clients as they are: a bot that sends twice as fast as real time, one that does not read, many calls at once.
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { FRAME_BYTES, FRAME_MS } from '#shared/voice/media.ts';
import { telephone } from '../../fixtures/agents/telephone.ts';
import type { ScriptedMedia } from '../../fixtures/nodes/scripted-media.ts';
import { slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { createRig } from '../../fixtures/service/rig.ts';
import { until } from '../../fixtures/until.ts';

const rig = await createRig();

/** 44 bytes as Python's wave module writes them in front of 1280 bytes: what Pipecat's add_wav_header makes. */
const WAV_HEADER = Buffer.from('UklGRiQFAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQAFAAA=', 'base64');

/** A modem in real time, until it is stopped. */
function running(media: ScriptedMedia): () => void {
  let captured = 0;
  const startedAt = performance.now();
  const timer = setInterval(() => {
    while (captured * FRAME_MS < performance.now() - startedAt) {
      media.capture(Buffer.alloc(FRAME_BYTES, captured));
      captured += 1;
    }
  }, FRAME_MS / 2);
  return () => clearInterval(timer);
}

t.test(
  'a bot sends 40 ms with a RIFF header each 20 ms: all of it is played in order, in real time',
  async (t) => {
    const { line, presence, stream } = await telephone(t, rig);
    const watcher = await presence();
    const { call_id: callId } = line.ring();
    await until('it rings', () => watcher.texts.length > 0);
    const bot = await stream(callId);
    const media = await until('the media link', () => line.media);
    const stop = running(media);
    t.teardown(stop);
    const said: Buffer[] = [];
    const startedAt = performance.now();
    for (let chunk = 0; chunk < 50; chunk += 1) {
      const audio = Buffer.alloc(2 * FRAME_BYTES, chunk + 1);
      said.push(audio);
      bot.socket.send(Buffer.concat([WAV_HEADER, audio]));
      await pause(Math.max(0, startedAt + (chunk + 1) * FRAME_MS - performance.now()));
    }
    bot.say({ type: 'mark', name: 'said' });
    await until('played', () => bot.of({ type: 'mark' }).length === 1);
    const tookMs = performance.now() - startedAt;
    t.same(media.heard, Buffer.concat(said), 'every sample once, no header among them');
    t.ok(tookMs > 1_800, `${tookMs.toFixed(0)} ms for 2 s of audio: as fast as the modem takes it`);
    t.same(bot.of({ type: 'overflow' }), []);
    // It interrupts itself: nothing more than the node holds is heard after that.
    bot.socket.send(Buffer.alloc(100 * FRAME_BYTES, 99));
    await until('it speaks', () => media.frames.at(-1)?.audio[0] === 99);
    bot.say({ action: 'clear' });
    await until('cleared', () => bot.of({ type: 'cleared' }).length === 1);
    const heard = media.frames.length;
    await pause(200);
    t.equal(media.frames.length, heard);
    const [{ played_ms: played, dropped_ms: dropped } = {}] = bot.of({ type: 'cleared' });
    t.equal(
      Number(played) + Number(dropped),
      2_000 + 2_000,
      'every frame that was sent is played or dropped',
    );
  },
);

t.test('a client that does not read costs no other client anything', async (t) => {
  const slots = [slotAt(1), slotAt(2)];
  const { line, presence, stream, url, hangUp } = await telephone(t, rig, { slots });
  const watcher = await presence();
  const { call_id: callId } = line.ring();
  await until('it rings', () => watcher.texts.length > 0);
  const slow = await stream(callId);
  const media = await until('the media link', () => line.media);
  slow.socket.pause();
  // As many as the service reads at once.
  for (let frame = 0; frame < 1_500; frame += 1) media.capture();
  const began = performance.now();
  const response = await fetch(`${url}/availability`);
  t.equal(response.status, 200);
  t.ok(performance.now() - began < 1_000);
  await until('the service has read it', () => media.socket.bufferedAmount === 0);
  t.equal((await hangUp(callId)).status, 200);
});
