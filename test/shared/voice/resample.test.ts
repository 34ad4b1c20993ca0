// The resampler between 8 and 16 kHz: purity, level, frames of whole length, delay, memory.
import t from 'tap';
import { loadResampler } from '#shared/voice/resample.ts';
import { measureTone, tone } from '../../fixtures/audio/tone.ts';

const createResampler = await loadResampler();

function inFrames(samples: Int16Array, length: number): Int16Array[] {
  return Array.from({ length: samples.length / length }, (_, index) =>
    samples.subarray(index * length, (index + 1) * length),
  );
}

const join = (frames: readonly Int16Array[]): Int16Array =>
  Int16Array.from(frames.flatMap((each) => [...each]));

for (const [inputHz, outputHz] of [
  [8_000, 16_000],
  [16_000, 8_000],
] as const) {
  t.test(`${inputHz} to ${outputHz} Hz`, async (t) => {
    for (const hz of [300, 1_000, 3_000, 3_400]) {
      const resampler = createResampler(inputHz, outputHz);
      const frames = inFrames(tone({ hz, rateHz: inputHz, seconds: 2 }), inputHz / 50).map((frame) =>
        resampler.process(frame),
      );
      resampler.close();
      t.ok(
        frames.every(({ length }) => length === outputHz / 50),
        '20 ms come out for 20 ms',
      );
      const settled = join(frames).subarray(outputHz / 2);
      const { sinadDb, levelDb } = measureTone(settled, { hz, rateHz: outputHz });
      t.ok(sinadDb >= 80, `${hz} Hz: SINAD ${sinadDb.toFixed(1)} dB`);
      t.ok(Math.abs(levelDb) <= 0.1, `${hz} Hz: level ${levelDb.toFixed(3)} dB`);
    }
  });
}

t.test('8 to 16 to 8 kHz', async (t) => {
  const [up, down] = [createResampler(8_000, 16_000), createResampler(16_000, 8_000)];
  const frames = inFrames(tone({ hz: 1_000, rateHz: 8_000, seconds: 2 }), 160).map((frame) =>
    down.process(up.process(frame)),
  );
  const { sinadDb, levelDb } = measureTone(join(frames).subarray(4_000), { hz: 1_000, rateHz: 8_000 });
  t.ok(
    sinadDb >= 40 && Math.abs(levelDb) <= 0.5,
    `SINAD ${sinadDb.toFixed(1)} dB, level ${levelDb.toFixed(3)} dB`,
  );
});

t.test('any length of input is the same stream', async (t) => {
  const samples = tone({ hz: 440, rateHz: 8_000, seconds: 2 });
  const [whole, pieces] = [createResampler(8_000, 16_000), createResampler(8_000, 16_000)];
  const expected = whole.process(samples);
  t.equal(expected.length, 32_000);
  const got: Int16Array[] = [];
  for (let at = 0, length = 1; at < samples.length; at += length, length = (length * 7 + 3) % 1_000 || 1)
    got.push(pieces.process(samples.subarray(at, at + length)));
  t.same(join(got), expected);
});

t.test('two streams do not hear each other, and memory is given back', async (t) => {
  const [one, other] = [createResampler(8_000, 16_000), createResampler(8_000, 16_000)];
  one.process(new Int16Array(160).fill(10_000));
  t.same(other.process(new Int16Array(160)), new Int16Array(320));
  // More than all of them together would fit into.
  for (let count = 0; count < 5_000; count += 1) createResampler(8_000, 16_000).close();
});
