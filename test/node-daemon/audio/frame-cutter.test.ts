// Octets of any pieces as frames, whatever was lost between them.
import t from 'tap';
import { FrameCutter } from '#node-daemon/audio/frame-cutter.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';

const frameOf = (samples: number, value: number): Uint8Array =>
  new Uint8Array(new Int16Array(samples).fill(value).buffer);

t.test('pieces of any size become frames of 20 ms', async (t) => {
  for (const [rateHz, samples] of [
    [8_000, 160],
    [16_000, 320],
  ] as const) {
    for (const size of [1, 63, 64, 65, 319, 321, 5_000]) {
      const cutter = new FrameCutter(rateHz);
      const all = new Uint8Array(20 * samples * 2).map((_, index) => index % 251);
      const frames: Int16Array[] = [];
      for (let at = 0; at < all.length; at += size)
        frames.push(...cutter.push(all.slice(at, at + size), at / 100));
      t.equal(frames.length, 20, `${rateHz} Hz in pieces of ${size}`);
      const joined = Buffer.concat(frames.map((frame) => Buffer.from(frame.buffer)));
      t.ok(joined.equals(all), 'none changed');
    }
  }
});

t.test(
  'an octet lost from what is no sound spoils what comes until the next gap, and nothing after it',
  async (t) => {
    const cutter = new FrameCutter(8_000);
    cutter.push(frameOf(160, 1_000).slice(1), 0);
    const [spoilt] = cutter.push(frameOf(160, 1_000), 20);
    t.not(spoilt?.[100], 1_000);
    const [whole] = cutter.push(frameOf(160, 1_000), 200);
    t.equal(whole?.[100], 1_000);
    t.equal(cutter.gaps, 1);
  },
);

/** As a voice: 130 Hz and its harmonics, by syllables. */
const voice = (rateHz: number, seconds: number): Buffer => {
  const samples = Int16Array.from({ length: rateHz * seconds }, (_, index) => {
    const at = index / rateHz;
    let sample = 0;
    for (let harmonic = 1; harmonic <= 8; harmonic += 1)
      sample += Math.sin(2 * Math.PI * 130 * harmonic * at) / harmonic;
    return 5_000 * sample * Math.max(0, Math.sin(2 * Math.PI * 3 * at));
  });
  return Buffer.from(samples.buffer);
};

t.test('a lost octet, or a sentence of odd length, makes noise of a fifth of a second at most', async (t) => {
  for (const rateHz of [8_000, 16_000] as const) {
    const all = voice(rateHz, 4);
    const at = 2 * rateHz + 1_000;
    for (const [what, broken] of [
      ['lost', Buffer.concat([all.subarray(0, at), all.subarray(at + 1)])],
      ['NMEA', Buffer.concat([all.subarray(0, at), Buffer.from('$GPGSV,1,1,00*79\r'), all.subarray(at)])],
    ] as const) {
      const cutter = new FrameCutter(rateHz);
      // A cut ends where a piece does: nothing is left over for the next start.
      const piece = rateHz / 25;
      const frames: Int16Array[] = [];
      for (let from = 0; from < broken.length; from += piece)
        frames.push(...cutter.push(broken.subarray(from, from + piece), (from / piece) * 20));
      t.equal(cutter.gaps, 1);
      t.ok(frames.length >= 198);
      const whole = (at + rateHz / 2.5) & ~1;
      const rest = all.subarray(whole, whole + 1_000);
      const heard = Buffer.concat(frames.map((frame) => Buffer.from(frame.buffer)));
      t.ok(heard.includes(rest), `${what} at ${rateHz} Hz: itself again`);
    }
  }
});

t.test('audible frames pass unchanged', async (t) => {
  const random = randomFrom(5);
  const sounds: Record<string, (index: number) => number> = {
    noise: () => random(60_000) - 30_000,
    'quiet noise': () => random(40) - 20,
    'steps of 256': (index) => 256 * ((index % 100) - 50),
    'a square': (index) => (index % 20 < 10 ? 10_240 : -10_240),
    'the highest tone': (index) => 20_000 * Math.sin(2.67 * index),
    'a tone of 3 kHz': (index) => 300 * Math.sin((2 * Math.PI * 3 * index) / 8),
    keys: (index) => 8_000 * (Math.sin(0.739 * index) + Math.sin(1.283 * index)),
    nothing: () => 0,
    'one value': () => 1_000,
  };
  for (const [name, sound] of Object.entries(sounds)) {
    const cutter = new FrameCutter(8_000);
    const octets = Buffer.from(Int16Array.from({ length: 80_000 }, (_, index) => sound(index)).buffer);
    const frames = cutter.push(octets, 0);
    t.equal(cutter.gaps, 0, name);
    t.ok(Buffer.concat(frames.map((frame) => Buffer.from(frame.buffer))).equals(octets), name);
  }
});

t.test('the rate is that of the octets, where nothing else states it', async (t) => {
  for (const [rateHz, octets] of [
    [8_000, 320],
    [16_000, 640],
  ] as const) {
    const cutter = new FrameCutter(undefined);
    let nowMs = 0;
    // Octets that had waited in the modem come at once.
    cutter.push(new Uint8Array(4 * octets), nowMs);
    while (cutter.rateHz === undefined && nowMs < 2_000) {
      nowMs += 20 + (nowMs % 3) - 1;
      cutter.push(new Uint8Array(octets), nowMs);
    }
    t.equal(cutter.rateHz, rateHz);
    t.ok(nowMs < 400, `after ${nowMs} ms`);
  }
});
