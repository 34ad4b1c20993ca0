// Answering machines and people, distinguished by their greetings. The limits were chosen on the other half of the greetings.
import t from 'tap';
import { featuresOf } from '#control-plane/hearing/frame-features.ts';
import { addFrame, type Greeting, NO_GREETING } from '#control-plane/hearing/greeting.ts';
import type { Answerer } from '#shared/voice/call.ts';
import { FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE_HZ } from '#shared/voice/media.ts';
import { answeredCalls } from '../../fixtures/audio/greetings.ts';
import { skipWithoutSpeech } from '../../fixtures/audio/spoken.ts';
import { tone } from '../../fixtures/audio/tone.ts';

const CALLS = 120;

function judged(samples: Int16Array): { greeting: Greeting; ms: number } {
  let greeting = NO_GREETING;
  let at = 0;
  for (; at + FRAME_SAMPLES <= samples.length && greeting.verdict === undefined; at += FRAME_SAMPLES)
    greeting = addFrame(greeting, featuresOf(samples.subarray(at, at + FRAME_SAMPLES), SAMPLE_RATE_HZ));
  return { greeting, ms: (at / FRAME_SAMPLES) * FRAME_MS };
}

const silence = (ms: number): Int16Array => new Int16Array((ms * SAMPLE_RATE_HZ) / 1_000);
const beep = (hz: number, seconds: number): Int16Array => tone({ hz, rateHz: SAMPLE_RATE_HZ, seconds });
const joined = (...parts: Int16Array[]): Int16Array => Int16Array.from(parts.flatMap((part) => [...part]));

const none = (): Record<Answerer, number> => ({ human: 0, machine: 0, unknown: 0 });

t.test(
  'of 120 greetings on noisy lines, at most 1 in 20 is misjudged',
  { skip: skipWithoutSpeech() },
  async (t) => {
    const table = { human: none(), machine: none() };
    const waitsMs: number[] = [];
    for (const { by, samples, script } of answeredCalls('judging', CALLS)) {
      const { greeting, ms } = judged(samples);
      const verdict = greeting.verdict ?? 'unknown';
      table[by][verdict] += 1;
      waitsMs.push(ms);
      if (verdict !== by) t.comment(`${by} judged as ${verdict}: ${JSON.stringify(script)}`);
    }
    for (const [by, counts] of Object.entries(table)) t.comment(`${by}: ${JSON.stringify(counts)}`);
    waitsMs.sort((a, b) => a - b);
    t.comment(`judged after ${waitsMs[CALLS / 2]} ms (median), ${waitsMs.at(-1)} ms at most`);
    const right = table.human.human + table.machine.machine;
    t.ok(CALLS - right <= CALLS / 20, `${CALLS - right} of ${CALLS} are wrong`);
    t.ok(table.human.human >= 0.9 * (CALLS / 2), 'people are not taken for machines');
    t.ok(table.machine.machine >= 0.9 * (CALLS / 2), 'machines are not taken for people');
  },
);

t.test('a silent line is unknown after 5 seconds, and stays so', async (t) => {
  const { greeting, ms } = judged(silence(8_000));
  t.match({ verdict: greeting.verdict, ms }, { verdict: 'unknown', ms: 5_000 });
  t.equal(addFrame(greeting, featuresOf(beep(1_000, 0.02), SAMPLE_RATE_HZ)), greeting);
});

t.test('a click is no word', async (t) => {
  const click = Int16Array.from(silence(40), (_, index) => (index % 7 === 0 ? 9_000 : -3_000));
  t.equal(judged(joined(silence(300), click, silence(6_000))).greeting.verdict, 'unknown');
});

t.test('a beep is a machine, whatever its frequency', async (t) => {
  for (const hz of [400, 440, 1_000, 1_400, 2_100, 3_000]) {
    const { greeting, ms } = judged(joined(silence(500), beep(hz, 0.5), silence(3_000)));
    t.equal(greeting.verdict, 'machine', `${hz} Hz`);
    t.ok(ms <= 500 + 200, `after ${ms} ms`);
  }
});

t.test('features of a tone, of noise and of silence', async (t) => {
  const sine = featuresOf(beep(1_000, 0.02), SAMPLE_RATE_HZ);
  // A sine at half of full scale has 20 log 0.5 - 3.01 dB.
  t.ok(Math.abs(sine.levelDb + 9.03) < 0.05, `${sine.levelDb} dB`);
  t.ok(Math.abs(sine.crossingsHz - 2_000) <= 50, `${sine.crossingsHz} crossings`);
  t.ok(sine.tonality > 0.99);
  let state = 1;
  const noise = Int16Array.from({ length: FRAME_SAMPLES }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (state >> 16) - 16_384;
  });
  t.ok(featuresOf(noise, SAMPLE_RATE_HZ).tonality < 0.5);
  t.same(featuresOf(silence(20), SAMPLE_RATE_HZ), { levelDb: -96, crossingsHz: 0, tonality: 0 });
  t.same(featuresOf(new Int16Array(FRAME_SAMPLES).fill(900), SAMPLE_RATE_HZ).levelDb, -96, 'of an offset');
});
