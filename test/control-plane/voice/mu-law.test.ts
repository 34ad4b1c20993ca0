// G.711 mu-law against values from the ITU's table and from another program.
import { createHash } from 'node:crypto';
import t from 'tap';
import { decodeMuLaw, encodeMuLaw } from '#control-plane/voice/streams/mu-law.ts';

const BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);

t.test('all 256 codes decode as CPython’s audioop decodes them', async (t) => {
  const samples = decodeMuLaw(BYTES);
  // audioop.ulaw2lin(bytes(range(256)), 2), Python 3.11.
  t.equal(
    createHash('sha256').update(Buffer.from(samples.buffer)).digest('hex'),
    '3dab54339e520bb2c924826e3b72a917a2b612e9fd12fc867500f1d983a75827',
  );
  // ITU-T G.711 table 2a, values of 14 bits, times four.
  for (const [byte, value] of [
    [0x80, 8031],
    [0x8f, 4191],
    [0x9f, 2079],
    [0xaf, 1023],
    [0xbf, 495],
    [0xcf, 231],
    [0xdf, 99],
    [0xef, 33],
    [0xfe, 2],
    [0xff, 0],
    [0x00, -8031],
    [0x7e, -2],
  ] as const)
    t.equal(samples[byte], value * 4, `code ${byte}`);
});

/** Decision values x1 … x127 of ITU-T G.711 table 2a: the ends of its segments, and 16 intervals in each. */
const DECISIONS = [
  1,
  ...Array.from({ length: 15 }, (_, index) => 3 + 2 * index),
  ...[31, 95, 223, 479, 991, 2015, 4063].flatMap((end, segment) =>
    Array.from({ length: 16 }, (_, index) => end + (index + 1) * (4 << segment)),
  ),
].slice(0, 127);

t.test('every sample is encoded by the decision values of the table', async (t) => {
  const samples = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);
  const expected = Uint8Array.from(samples, (sample) => {
    const magnitude = Math.floor(Math.abs(sample) / 4);
    const interval = DECISIONS.filter((decision) => decision <= magnitude).length;
    return (sample < 0 ? 0x7f : 0xff) - interval;
  });
  const encoded = encodeMuLaw(samples);
  t.same(
    [...samples].filter((_, index) => encoded[index] !== expected[index]),
    [],
  );
});

t.test('every code is encoded as itself', async (t) => {
  // Both zeros are one sample.
  t.same(
    [...encodeMuLaw(decodeMuLaw(BYTES))],
    [...BYTES].map((byte) => (byte === 0x7f ? 0xff : byte)),
  );
});
