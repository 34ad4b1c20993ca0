// Distinguishes live audio from audio that is sent ahead, by its arrival times.
import t from 'tap';
import { LiveSourceDetector } from '#control-plane/voice/live-source-detector.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';

/** Sends `audioMs` each time, at these times. */
function sent(times: readonly number[], audioMs: number): LiveSourceDetector {
  const detector = new LiveSourceDetector();
  for (const atMs of times) detector.arrived(audioMs, atMs);
  return detector;
}

const every = (stepMs: number, count: number, late: (index: number) => number = () => 0): number[] =>
  Array.from({ length: count }, (_, index) => 5_000 + index * stepMs + late(index));

t.test('a microphone is live, in frames or in chunks, and with a network that jitters', async (t) => {
  const random = randomFrom(7);
  t.ok(sent(every(20, 150), 20).isLive);
  t.ok(sent(every(200, 15), 200).isLive, 'chunks of 200 ms');
  t.ok(
    sent(
      every(20, 150, () => random(60)),
      20,
    ).isLive,
    '60 ms of jitter',
  );
  t.ok(sent(every(20.004, 500), 20).isLive, 'a clock that is 200 ppm slow');
});

t.test('the pace is unknown in the first second', async (t) => {
  t.notOk(sent(every(20, 50), 20).isLive);
  t.notOk(new LiveSourceDetector().isLive);
});

t.test(
  'a program that sends a ready answer is not live: at twice the pace, in one piece, or in sentences',
  async (t) => {
    t.notOk(sent(every(10, 300), 20).isLive);
    t.notOk(sent([0], 8_000).isLive);
    t.notOk(sent([0, 1_500, 3_000, 4_500], 1_400).isLive);
  },
);

t.test('a program that stopped is not live until it has gone on for a while', async (t) => {
  const detector = sent(every(20, 150), 20);
  const again = 5_000 + 150 * 20 + 1_000;
  detector.arrived(20, again);
  t.notOk(detector.isLive, 'a pause of a second');
  for (let index = 1; index <= 150; index += 1) detector.arrived(20, again + index * 20);
  t.ok(detector.isLive);
});

t.test('a network that holds everything back and gives it at once makes it live again later', async (t) => {
  const detector = sent(every(20, 150), 20);
  const stalled = 5_000 + 150 * 20 + 600;
  for (let index = 0; index < 30; index += 1) detector.arrived(20, stalled);
  t.notOk(detector.isLive);
  for (let index = 1; index <= 110; index += 1) detector.arrived(20, stalled + index * 20);
  t.ok(detector.isLive);
});
