// The queue of a client's audio: whatever comes in, in whatever pieces, goes out in order, bounded, with its marks.
import fc from 'fast-check';
import t from 'tap';
import { PlayoutQueue } from '#control-plane/voice/playout-queue.ts';
import { FRAME_BYTES } from '#shared/voice/media.ts';

const counted = (length: number, from: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (from + index) % 251);

t.test('pieces of any length come out as frames, byte for byte, with marks in their places', async () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({
        kind: fc.constant('push' as const),
        bytes: fc
          .oneof(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 6_000, max: 14_000 }))
          .map((n) => n * 2),
      }),
      fc.record({ kind: fc.constant('shift' as const) }),
      fc.record({ kind: fc.constant('mark' as const) }),
      fc.record({ kind: fc.constant('pad' as const) }),
      fc.record({ kind: fc.constant('clear' as const) }),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 12 }), (list, framesMax) => {
      const queue = new PlayoutQueue(framesMax);
      // The model: every byte, and where the marks are.
      let waiting: number[] = [];
      let marks: Array<{ name: string; at: number }> = [];
      let taken = 0;
      let from = 0;
      const whole = (): number => Math.floor(waiting.length / FRAME_BYTES);
      const drop = (frames: number): void => {
        waiting = waiting.slice(frames * FRAME_BYTES);
        taken += frames;
      };
      for (const [index, step] of list.entries()) {
        if (step.kind === 'push') {
          const audio = counted(step.bytes, from);
          from += step.bytes;
          waiting.push(...audio);
          const expected = Math.max(0, whole() - framesMax);
          if (queue.push(audio) !== expected) throw new Error('dropped');
          drop(expected);
        } else if (step.kind === 'shift') {
          const frame = queue.shift();
          const expected = whole() > 0 ? waiting.slice(0, FRAME_BYTES) : undefined;
          if (JSON.stringify(frame && [...frame]) !== JSON.stringify(expected)) throw new Error('frame');
          if (expected !== undefined) drop(1);
        } else if (step.kind === 'mark') {
          queue.mark(`m${index}`);
          marks.push({ name: `m${index}`, at: taken + Math.ceil(waiting.length / FRAME_BYTES) });
        } else if (step.kind === 'pad') {
          queue.pad();
          while (waiting.length % FRAME_BYTES !== 0) waiting.push(0);
        } else {
          const { frames, marks: names } = queue.clear();
          const pending = Math.ceil(waiting.length / FRAME_BYTES);
          if (frames !== pending || names.join() !== marks.map(({ name }) => name).join())
            throw new Error('clear');
          taken += pending;
          waiting = [];
          marks = [];
        }
        const reached = marks.filter(({ at }) => at <= taken);
        marks = marks.filter(({ at }) => at > taken);
        if (queue.takeMarks().join() !== reached.map(({ name }) => name).join()) throw new Error('marks');
        if (queue.length !== whole() || queue.hasRest !== waiting.length % FRAME_BYTES > 0)
          throw new Error('length');
      }
    }),
    { numRuns: 500 },
  );
});

t.test('an hour through a full queue holds no more than a minute of it', async (t) => {
  const queue = new PlayoutQueue(3_000);
  let dropped = 0;
  for (let frame = 0; frame < 180_000; frame += 1) {
    dropped += queue.push(new Uint8Array(FRAME_BYTES));
    if (frame % 2 === 0) queue.shift();
  }
  t.equal(queue.length, 3_000);
  t.equal(dropped, 180_000 - 90_000 - 3_000);
});

t.test(
  'the waiting rest of a long message keeps only its own memory, and ignores later changes of its buffer',
  async (t) => {
    const queue = new PlayoutQueue(3_000);
    const message = Buffer.alloc(2 * 1024 * 1024, 7);
    queue.push(message);
    message.fill(9);
    queue.cut(1);
    const frame = queue.shift();
    t.same(frame, new Uint8Array(FRAME_BYTES).fill(7));
    t.ok(Number(frame?.buffer.byteLength) <= 64 * 1024, `${frame?.buffer.byteLength} bytes behind a frame`);
  },
);
