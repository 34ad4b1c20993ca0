// The audio that comes back of a tone: all of it, nothing, or something else.
import t from 'tap';
import { judgeTone, toneFrame } from '#node-daemon/doctor/audio-loop.ts';

const SECOND = Buffer.concat(Array.from({ length: 50 }, toneFrame));

t.test('the tone, also after silence and with a codec’s noise', async (t) => {
  t.equal(judgeTone(SECOND), 'back');
  t.equal(judgeTone(Buffer.concat([Buffer.alloc(3200), SECOND])), 'back');
  const noisy = Buffer.from(SECOND);
  for (let at = 0; at < noisy.length; at += 2)
    noisy.writeInt16LE(noisy.readInt16LE(at) + ((at * 7919) % 301), at);
  t.equal(judgeTone(noisy), 'back');
});

t.test('silence, and next to it', async (t) => {
  t.equal(judgeTone(Buffer.alloc(0)), 'silence');
  t.equal(judgeTone(Buffer.alloc(16_000, 1)), 'silence');
});

t.test('octets that are shifted, another rate, a tone that breaks off', async (t) => {
  t.equal(judgeTone(SECOND.subarray(1)), 'noise');
  const every = Array.from({ length: SECOND.length / 4 }, (_, index) =>
    SECOND.subarray(index * 4, index * 4 + 2),
  );
  t.equal(judgeTone(Buffer.concat(every)), 'noise', 'half of the samples');
  t.equal(judgeTone(SECOND.subarray(0, 1600)), 'noise');
});
