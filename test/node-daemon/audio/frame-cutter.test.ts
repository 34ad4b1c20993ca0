// Octets of any pieces as frames, whatever was lost between them.
import t from 'tap';
import { FrameCutter } from '#node-daemon/audio/frame-cutter.ts';

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

t.test('a lost octet spoils what comes until the next gap, and nothing after it', async (t) => {
  const cutter = new FrameCutter(8_000);
  cutter.push(frameOf(160, 1_000).slice(1), 0);
  const [spoilt] = cutter.push(frameOf(160, 1_000), 20);
  t.not(spoilt?.[100], 1_000);
  const [whole] = cutter.push(frameOf(160, 1_000), 200);
  t.equal(whole?.[100], 1_000);
  t.equal(cutter.gaps, 1);
});

t.test('the rate is that of the octets, where nothing else tells it', async (t) => {
  for (const [rateHz, octets] of [
    [8_000, 320],
    [16_000, 640],
  ] as const) {
    const cutter = new FrameCutter(undefined);
    let nowMs = 0;
    // What had waited in the modem comes at once.
    cutter.push(new Uint8Array(4 * octets), nowMs);
    while (cutter.rateHz === undefined && nowMs < 2_000) {
      nowMs += 20 + (nowMs % 3) - 1;
      cutter.push(new Uint8Array(octets), nowMs);
    }
    t.equal(cutter.rateHz, rateHz);
    t.ok(nowMs < 400, `after ${nowMs} ms`);
  }
});
