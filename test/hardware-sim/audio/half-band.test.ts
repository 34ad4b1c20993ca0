// The filter between 8 and 16 kHz: what it lets pass, and what it does not.
import t from 'tap';
import { Decimator, Interpolator } from '#hardware-sim/audio/half-band.ts';
import { Tone } from '#hardware-sim/audio/tone.ts';
import { measureTone } from '../fixtures/tone-meter.ts';

const LEVEL_DBFS = -6;
/** One second, fed in frames; the first tenth is left out of what is measured. */
const FRAMES = 50;

function passed(filter: Decimator | Interpolator, frequencyHz: number, rateHz: number): Int16Array {
  const tone = new Tone(frequencyHz, LEVEL_DBFS, rateHz);
  const output: number[] = [];
  for (let frame = 0; frame < FRAMES; frame++) output.push(...filter.process(tone.next(rateHz / FRAMES)));
  return Int16Array.from(output.slice(output.length / 10));
}

t.test('up to 3.4 kHz a tone keeps its level within 0.1 dB, both ways', async (t) => {
  for (const frequencyHz of [100, 300, 1000, 2000, 3000, 3400]) {
    const down = measureTone(passed(new Decimator(), frequencyHz, 16_000), frequencyHz, 8000);
    t.ok(Math.abs(down.levelDbfs - LEVEL_DBFS) < 0.1, `${frequencyHz} Hz down: ${down.levelDbfs}`);
    const up = measureTone(passed(new Interpolator(), frequencyHz, 8000), frequencyHz, 16_000);
    t.ok(Math.abs(up.levelDbfs - LEVEL_DBFS) < 0.1, `${frequencyHz} Hz up: ${up.levelDbfs}`);
    t.ok(up.sinadDb > 50, `${frequencyHz} Hz up: ${up.sinadDb} dB above its image`);
  }
});

t.test('from 4.6 kHz on 55 dB and more are taken away', async (t) => {
  for (const frequencyHz of [4600, 5000, 6000, 7000, 7800]) {
    const alias = measureTone(passed(new Decimator(), frequencyHz, 16_000), 8000 - frequencyHz, 8000);
    t.ok(alias.levelDbfs < LEVEL_DBFS - 55, `${frequencyHz} Hz: ${alias.levelDbfs}`);
  }
});

t.test('a tone that is resampled there and back is the same', async (t) => {
  const [up, down] = [new Interpolator(), new Decimator()];
  const tone = new Tone(1000, LEVEL_DBFS, 8000);
  const output: number[] = [];
  for (let frame = 0; frame < FRAMES; frame++) output.push(...down.process(up.process(tone.next(160))));
  const { levelDbfs, sinadDb } = measureTone(Int16Array.from(output.slice(800)), 1000, 8000);
  t.ok(Math.abs(levelDbfs - LEVEL_DBFS) < 0.05, `level ${levelDbfs}`);
  t.ok(sinadDb > 70, `SINAD ${sinadDb}`);
});
