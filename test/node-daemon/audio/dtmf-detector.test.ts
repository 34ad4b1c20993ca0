// Keys in audio, by the frequencies of ITU-T Q.23 and within the limits of Q.24; and nothing else is one.
import t from 'tap';
import { DtmfDetector } from '#node-daemon/audio/dtmf-detector.ts';
import { randomFrom } from '../../fixtures/seeded-random.ts';

const RATE_HZ = 16_000;
const KEYS = ['123A', '456B', '789C', '*0#D'];
const ROWS_HZ = [697, 770, 852, 941];
const COLUMNS_HZ = [1209, 1336, 1477, 1633];

const dbfs = (level: number): number => 32_767 * 10 ** (level / 20);

function tones(parts: readonly [frequencyHz: number, dbfs: number][], ms: number): Int16Array {
  return Int16Array.from({ length: (RATE_HZ * ms) / 1000 }, (_, index) =>
    Math.round(
      parts.reduce(
        (sum, [frequencyHz, level]) =>
          sum + dbfs(level) * Math.sin((2 * Math.PI * frequencyHz * index) / RATE_HZ),
        0,
      ),
    ),
  );
}

const silence = (ms: number): Int16Array => new Int16Array((RATE_HZ * ms) / 1000);

function keyTones(key: string, { level = -12, twistDb = 0, off = 1, ms = 80 } = {}): Int16Array {
  const row = KEYS.findIndex((keys) => keys.includes(key));
  const column = KEYS[row]?.indexOf(key) ?? 0;
  return tones(
    [
      [(ROWS_HZ[row] ?? 0) * off, level],
      [(COLUMNS_HZ[column] ?? 0) * off, level + twistDb],
    ],
    ms,
  );
}

function heard(...parts: Int16Array[]): string {
  const detector = new DtmfDetector();
  return [...parts, silence(100)].flatMap((part) => detector.push(part)).join('');
}

t.test('every key, once, and one after the other', async (t) => {
  const all = KEYS.join('');
  for (const key of all) t.equal(heard(silence(30), keyTones(key)), key);
  t.equal(heard(...[...all].flatMap((key) => [keyTones(key), silence(70)])), all);
  t.equal(heard(keyTones('5'), silence(70), keyTones('5')), '55', 'pressed twice');
  t.equal(heard(keyTones('5', { ms: 2_000 })), '5', 'held');
});

t.test('weak, uneven and slightly off keys are keys', async (t) => {
  for (const level of [-6, -20, -30]) t.equal(heard(keyTones('7', { level })), '7', `${level} dBFS`);
  for (const twistDb of [-7, -4, 4, 7]) t.equal(heard(keyTones('3', { twistDb })), '3', `${twistDb} dB`);
  for (const off of [0.985, 1.015]) t.equal(heard(keyTones('9', { off })), '9', `${off}`);
});

t.test('single tones, noise, a dial tone and short clicks are no keys', async (t) => {
  const random = randomFrom(3);
  const noise = Int16Array.from({ length: RATE_HZ * 10 }, () => (random(1_000) / 1_000 - 0.5) * 20_000);
  t.equal(heard(noise), '');
  for (const frequencyHz of [350, 440, 697, 1000, 1209, 2100])
    t.equal(heard(tones([[frequencyHz, -10]], 500)), '');
  t.equal(
    heard(
      tones(
        [
          [350, -13],
          [440, -13],
        ],
        1_000,
      ),
    ),
    '',
    'a dial tone',
  );
  t.equal(heard(keyTones('1', { ms: 20 })), '', '20 ms');
  t.equal(heard(keyTones('1', { level: -50 })), '', 'too weak');
  t.equal(heard(keyTones('1', { twistDb: -20 })), '', 'one tone is an echo');
});
