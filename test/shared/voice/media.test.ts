// Frames and messages of the media link: what goes in comes out, and nothing else is taken.
import fc from 'fast-check';
import t from 'tap';
import {
  decodeCapture,
  decodePlayout,
  encodeCapture,
  encodePlayout,
  FRAME_BYTES,
  MediaFrameError,
  mediaAuthorization,
  parseNodeMedia,
  parseServerMedia,
  samplesOf,
} from '#shared/voice/media.ts';

const audio = fc.uint8Array({ minLength: FRAME_BYTES, maxLength: FRAME_BYTES });
const count = fc.nat(0xffff_ffff);

t.test('frames come back as they were, wherever they lie in memory', async (t) => {
  fc.assert(
    fc.property(audio, count, count, count, fc.nat(7), (octets, sequence, played, granted, offset) => {
      const isLive = offset % 2 === 1;
      for (const [encoded, decode, expected] of [
        [
          encodeCapture({ sequence, played, granted, audio: octets }),
          decodeCapture,
          { sequence, played, granted, audio: octets },
        ],
        [
          encodePlayout({ sequence, isLive, audio: octets }),
          decodePlayout,
          { sequence, isLive, audio: octets },
        ],
      ] as const) {
        const memory = new Uint8Array(encoded.length + 16).fill(0xaa);
        memory.set(encoded, offset);
        const decoded = decode(memory.subarray(offset, offset + encoded.length));
        if (!Buffer.from(decoded.audio).equals(expected.audio)) throw new Error('other audio');
        const { audio: _, ...header } = decoded;
        const { audio: __, ...given } = expected;
        if (JSON.stringify(header) !== JSON.stringify(given)) throw new Error(JSON.stringify(header));
        if (!Buffer.from(samplesOf(decoded.audio).buffer).equals(octets)) throw new Error('other samples');
      }
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('the order of octets is little-endian, header and samples', async (t) => {
  const octets = new Uint8Array(FRAME_BYTES);
  octets.set([0x34, 0x12, 0xff, 0xff, 0x00, 0x80]);
  const bytes = encodeCapture({ sequence: 0x0403_0201, played: 1, granted: 0x100, audio: octets });
  t.same([...bytes.subarray(0, 14)], [1, 2, 3, 4, 1, 0, 0, 0, 0, 1, 0, 0, 0x34, 0x12]);
  t.equal(bytes.length, 652);
  const playout = encodePlayout({ sequence: 258, isLive: true, audio: octets });
  t.same([...playout.subarray(0, 7)], [2, 1, 0, 0, 1, 0x34, 0x12]);
  t.equal(playout.length, 645);
  t.same([...samplesOf(octets).subarray(0, 3)], [0x1234, -1, -32_768]);
});

t.test('a frame of any other length is none', async (t) => {
  for (const [decode, length] of [
    [decodeCapture, 652],
    [decodePlayout, 645],
  ] as const) {
    for (const wrong of [0, 1, 3, 4, 11, 12, 320, 640, length - 1, length + 1, length - 2, 2 * length, 4_096])
      if (wrong !== length) t.throws(() => decode(new Uint8Array(wrong)), MediaFrameError, `${wrong} octets`);
    t.ok(decode(new Uint8Array(length)));
  }
  t.throws(
    () => decodeCapture(encodePlayout({ sequence: 0, isLive: true, audio: new Uint8Array(640) })),
    MediaFrameError,
  );
});

t.test('samples are a copy: what is done to them is not done to the frame', async (t) => {
  const octets = new Uint8Array(FRAME_BYTES);
  samplesOf(octets).fill(1);
  t.ok(octets.every((octet) => octet === 0));
});

t.test('messages of the control plane', async (t) => {
  for (const message of [
    { type: 'clear', id: 0 },
    { type: 'clear', id: 4_711 },
    { type: 'dtmf', digits: '0123456789*#ABCD' },
    { type: 'dtmf', digits: '1'.repeat(32) },
  ])
    t.same(parseServerMedia(JSON.stringify(message)), message);
  for (const digits of [
    '',
    '1'.repeat(33),
    'a',
    'E',
    '1 2',
    '1,2',
    'p',
    'w',
    '"',
    ';',
    '1\r',
    '1\n',
    '\n1',
    '\0',
    '\x1a',
    '１',
    '١',
    '+',
    '1";+CFUN=0',
    'ATD911;',
  ])
    t.throws(
      () => parseServerMedia(JSON.stringify({ type: 'dtmf', digits })),
      MediaFrameError,
      JSON.stringify(digits),
    );
  for (const message of [
    {},
    null,
    5,
    'clear',
    [],
    { type: 'clear' },
    { type: 'clear', id: -1 },
    { type: 'clear', id: 0.5 },
    { type: 'clear', id: '1' },
    { type: 'clear', id: 1e300 },
    { type: 'dtmf' },
    { type: 'dtmf', digits: 5 },
    { type: 'dtmf', digits: ['1'] },
    { type: 'cleared', id: 0, played: 0, dropped: 0 },
    { type: 'other' },
  ])
    t.throws(() => parseServerMedia(JSON.stringify(message)), MediaFrameError, JSON.stringify(message));
});

t.test('messages of the node', async (t) => {
  for (const message of [
    { type: 'cleared', id: 3, played: 10, dropped: 2 },
    { type: 'dtmf', digit: '#' },
  ])
    t.same(parseNodeMedia(JSON.stringify(message)), message);
  for (const message of [
    { type: 'cleared', id: 3, played: -1, dropped: 2 },
    { type: 'cleared', id: 3 },
    { type: 'clear', id: 3 },
    ...['', '12', 'a', '1\n', '１', '\u0000'].map((digit) => ({ type: 'dtmf', digit })),
  ])
    t.throws(() => parseNodeMedia(JSON.stringify(message)), MediaFrameError, JSON.stringify(message));
});

t.test('text that is not JSON is a MediaFrameError', async (t) => {
  for (const text of ['', '{', 'null', '{"type":"clear","id":1', '\0', '{"type":"clear","id":1}x', 'NaN'])
    for (const parse of [parseServerMedia, parseNodeMedia])
      t.throws(() => parse(text), MediaFrameError, JSON.stringify(text));
  t.equal(mediaAuthorization('abc'), 'SimrackMedia abc');
});
