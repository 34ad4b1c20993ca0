// Audio that a client sends unevenly, or by another clock, is played evenly: nothing lost, no click, no growing delay.
import t from 'tap';
import { HELD_FRAMES_MAX, JitterBuffer } from '#node-daemon/audio/jitter-buffer.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';
import { medianTone } from '../../hardware-sim/fixtures/tone-meter.ts';

const RATE_HZ = 16_000;
const FRAME = 320;
const HOUR_FRAMES = 180_000;

/** A tone without an end, in frames: 50 Hz or a multiple, so that each frame is as the one before. */
function toneFrames(frequencyHz: number, amplitude = 10_000) {
  const frame = Int16Array.from({ length: FRAME }, (_, index) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * frequencyHz * index) / RATE_HZ)),
  );
  return () => frame.slice();
}

/** SINAD of a 1 kHz tone. While the clocks are brought together the tone is a 320th higher or lower. */
const sinadDb = (samples: Int16Array): number =>
  Math.max(...[319, 320, 321].map((step) => medianTone(samples, (1000 * step) / 320, RATE_HZ).sinadDb));

/** The largest step between two samples is that of the tone, or there is a click. */
function largestStep(samples: Int16Array): number {
  let largest = 0;
  for (let index = 1; index < samples.length; index += 1)
    largest = Math.max(largest, Math.abs((samples[index] ?? 0) - (samples[index - 1] ?? 0)));
  return largest;
}

/**
 * Plays frames whose sender has a clock that is off by `ppm`, each up to `jitterFrames` late. `onFrame` gets what is
 * played; what does not fit waits at the sender, as without a grant.
 */
function simulate(options: {
  frames: number;
  ppm?: number;
  jitterFrames?: number;
  onFrame: (frame: Int16Array | undefined, buffer: JitterBuffer) => void;
}): JitterBuffer {
  const { frames, ppm = 0, jitterFrames = 0, onFrame } = options;
  const buffer = new JitterBuffer();
  const next = toneFrames(1000);
  const random = randomFrom(7);
  const waiting: number[] = [];
  let sent = 0;
  let given = 0;
  for (let tick = 0; tick < frames; tick += 1) {
    for (; sent <= tick * (1 + ppm / 1e6); sent += 1) {
      const at = sent / (1 + ppm / 1e6) + (random(1_000) / 1_000) * jitterFrames;
      waiting.push(Math.max(at, waiting.at(-1) ?? 0));
    }
    while ((waiting[0] ?? Number.POSITIVE_INFINITY) <= tick && given - buffer.played < HELD_FRAMES_MAX) {
      waiting.shift();
      given += 1;
      buffer.push(next());
    }
    onFrame(buffer.pull(), buffer);
  }
  return buffer;
}

for (const ppm of [-200, 0, 200]) {
  t.test(
    `an hour with a clock that is off by ${ppm} ppm: no click, no silence, no growing delay`,
    async (t) => {
      const played: Int16Array[] = [];
      let silent = 0;
      let steps = 0;
      let last = 0;
      let heldMax = 0;
      let given = 0;
      const limit = 2 * Math.PI * (1000 / RATE_HZ) * 10_000 * 1.05;
      const buffer = simulate({
        frames: HOUR_FRAMES,
        ppm,
        onFrame: (frame, { played: done }) => {
          given += 1;
          if (given < 10) return;
          if (frame === undefined) silent += 1;
          else {
            if (Math.abs((frame[0] ?? 0) - last) > limit || largestStep(frame) > limit) steps += 1;
            last = frame[FRAME - 1] ?? 0;
            if (played.length < 500) played.push(frame);
          }
          heldMax = Math.max(heldMax, given * (1 + ppm / 1e6) - done);
        },
      });
      t.equal(silent, 0, 'no frame of silence');
      t.ok(steps <= 1, `clicks: ${steps}, one of them where it began`);
      t.equal(buffer.late, 0);
      t.equal(buffer.dropped, 0);
      t.ok(heldMax <= HELD_FRAMES_MAX, `at most ${heldMax.toFixed(1)} frames behind the sender`);
      const middle = played.slice(100, 150);
      const samples = new Int16Array(middle.length * FRAME);
      middle.forEach((frame, index) => {
        samples.set(frame, index * FRAME);
      });
      t.ok(sinadDb(samples) > 40, `SINAD ${sinadDb(samples)} dB`);
    },
  );
}

t.test('20 ms of jitter: no frame is late', async (t) => {
  let silent = 0;
  let begun = false;
  const buffer = simulate({
    frames: 50_000,
    jitterFrames: 1,
    onFrame: (frame) => {
      begun ||= frame !== undefined;
      if (begun && frame === undefined) silent += 1;
    },
  });
  t.equal(silent, 0);
  t.equal(buffer.late, 0);
});

t.test('frames that are late are counted, and after the second of a few seconds more is held', async (t) => {
  const buffer = new JitterBuffer();
  const next = toneFrames(1000);
  for (let times = 0; times < 2; times += 1) {
    for (let frame = 0; frame < 2; frame += 1) buffer.push(next());
    t.equal(buffer.late, times);
    t.ok(buffer.pull(), 'two are enough');
    for (let frame = 0; frame < 3; frame += 1) buffer.pull();
  }
  buffer.push(next());
  t.equal(buffer.late, 2);
  buffer.push(next());
  t.equal(buffer.pull(), undefined, 'two are not enough any more');
  buffer.push(next());
  t.ok(buffer.pull());
});

t.test('a frame after a pause is not late; a single frame does not wait for ever', async (t) => {
  const buffer = new JitterBuffer();
  const next = toneFrames(1000);
  for (let burst = 0; burst < 3; burst += 1) {
    buffer.push(next());
    let waited = 0;
    while (buffer.pull() === undefined && waited < 10) waited += 1;
    t.ok(waited <= 2, `waited ${waited} frames`);
    for (let frame = 0; frame < 10; frame += 1) buffer.pull();
  }
  t.equal(buffer.late, 0);
  t.equal(buffer.played, 3);
});

for (const isLive of [true, false]) {
  const source = isLive ? 'live' : 'ahead of its time';
  t.test(`half a second stood still, and the source is ${source}`, async (t) => {
    const buffer = new JitterBuffer();
    const next = toneFrames(1000);
    const played: Int16Array[] = [];
    // Frames that were not granted wait at the sender, as everything did for half a second.
    let waiting = 25;
    let given = 0;
    for (let tick = 0; tick < 200; tick += 1) {
      for (waiting += 1; waiting > 0 && given - buffer.played < HELD_FRAMES_MAX; waiting -= 1) {
        given += 1;
        buffer.push(next(), isLive);
      }
      played.push(buffer.pull() ?? new Int16Array(FRAME));
    }
    const late = waiting + given - buffer.played;
    if (isLive) t.ok(late <= 3, `${late} frames wait after 4 s`);
    else t.ok(late >= 24, `${late} frames wait still: they were sent ahead`);
    t.equal(buffer.dropped, 0);
    t.equal(buffer.late, 0);
    const samples = new Int16Array(played.length * FRAME);
    played.forEach((frame, index) => {
      samples.set(frame, index * FRAME);
    });
    t.ok(largestStep(samples) < 2 * Math.PI * (1000 / RATE_HZ) * 10_000 * 1.05, 'no click');
  });
}

t.test(
  'audio that ends at any moment while the clocks are brought together is played to its end',
  async (t) => {
    const next = toneFrames(1000);
    const unplayed: number[] = [];
    for (let frames = 1; frames <= 700; frames += 1) {
      const buffer = new JitterBuffer();
      for (let given = 0; given < frames; given += 1) {
        buffer.push(next());
        // The first one begins alone, so less than the target is held, and each frame is stretched.
        if (given === 0) buffer.pull();
        buffer.pull();
      }
      for (let tick = 0; tick <= HELD_FRAMES_MAX; tick += 1) buffer.pull();
      if (buffer.played !== frames) unplayed.push(frames);
    }
    t.same(unplayed, []);
  },
);

t.test('the end fades, a clear empties it at once, and what was not granted is dropped', async (t) => {
  const buffer = new JitterBuffer();
  const loud = () => new Int16Array(FRAME).fill(20_000);
  for (let frame = 0; frame < 9; frame += 1) buffer.push(loud());
  t.equal(buffer.dropped, 3);
  t.ok(buffer.pull());
  t.equal(buffer.clear(), 5);
  const fading = buffer.pull() ?? new Int16Array(0);
  t.ok(largestStep(fading) < 1_000, 'no click');
  t.equal(fading.at(-1), 0);
  t.equal(buffer.pull(), undefined);
  t.equal(buffer.played, 9, 'all are done with');
});
