// Speech made faster keeps its pitch and has no click; what does not repeat itself is left as it is.
import t from 'tap';
import { accelerated } from '#node-daemon/audio/accelerate.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';

const RATE_HZ = 16_000;
const FRAME = 320;

/** As a vowel: harmonics of a pitch, weaker and weaker. */
const vowel = (pitchHz: number, length: number): Int16Array =>
  Int16Array.from({ length }, (_, index) => {
    let sample = 0;
    for (let harmonic = 1; harmonic <= 10; harmonic += 1)
      sample += Math.cos((2 * Math.PI * pitchHz * harmonic * index) / RATE_HZ + harmonic ** 2) / harmonic;
    return Math.round(4_000 * sample);
  });

for (const pitchHz of [70, 100, 125, 160, 200, 250, 320, 400]) {
  t.test(`a voice of ${pitchHz} Hz`, async (t) => {
    const period = RATE_HZ / pitchHz;
    const source = vowel(pitchHz, 20 * FRAME);
    const played: number[] = [];
    let at = 0;
    while (at + FRAME + 240 <= source.length) {
      const faster = accelerated(source.subarray(at, at + FRAME + 240), FRAME);
      if (faster === undefined) throw new Error('a vowel repeats itself');
      const periods = faster.skipped / period;
      t.ok(
        periods > 0.9 && Math.abs(faster.skipped - Math.round(periods) * period) <= 1,
        `${periods} periods`,
      );
      played.push(...faster.audio);
      at += FRAME + faster.skipped;
    }
    t.ok(at > 1.25 * played.length, `${(at / played.length).toFixed(2)} times as fast`);
    let [noise, power] = [0, 0];
    // As the vowel goes on from each sample: the fades round the period to whole samples, and no more.
    for (let index = Math.ceil(period); index < played.length; index += 1) {
      power += (played[index] ?? 0) ** 2;
      const nearest = [-2, -1, 0, 1, 2].map((off) => {
        const before = played[index - Math.round(period) + off] ?? 0;
        return Math.abs(before - (played[index] ?? 0));
      });
      noise += Math.min(...nearest) ** 2;
    }
    t.ok(noise / power < 0.01, `noise ${(10 * Math.log10(noise / power)).toFixed(1)} dB`);
  });
}

t.test('silence is left out 15 ms at a time', async (t) => {
  const faster = accelerated(
    Int16Array.from({ length: FRAME + 240 }, (_, index) => (index % 7) * 20),
    FRAME,
  );
  t.equal(faster?.skipped, 240);
  t.equal(faster?.audio.length, FRAME);
});

t.test('noise does not repeat itself', async (t) => {
  const random = randomFrom(3);
  for (let round = 0; round < 50; round += 1) {
    const noise = Int16Array.from({ length: FRAME + 240 }, () => random(20_000) - 10_000);
    t.equal(accelerated(noise, FRAME), undefined);
  }
});

t.test('a surplus below one pitch period is not left out', async (t) => {
  for (const more of [0, 1, 39]) {
    t.equal(accelerated(new Int16Array(FRAME + more), FRAME), undefined);
    t.equal(accelerated(vowel(400, FRAME + more), FRAME), undefined);
  }
  t.equal(accelerated(new Int16Array(FRAME + 40), FRAME)?.skipped, 40);
});
