// The plan of a seed: always the same, texts that are cut where the standard cuts, every fault of the simulator.
import t from 'tap';
import { FaultError, parseFault } from '#hardware-sim/faults/fault-set.ts';
import { segmentText } from '#shared/sms/segmentation.ts';
import { disturbancePlan, usualCounts } from './disturbance-plan.ts';
import { FAULT_TABLE, LEFT_OUT } from './fault-table.ts';
import { messagePlan } from './message-plan.ts';
import { randomOf } from './random.ts';
import { ALPHABETS, keyOf, marksOf, plannedText } from './texts.ts';

const NUMBERS = ['+12065550100', '+12065550101', '+12065550102'];
const range = (length: number): number[] => [...Array(length).keys()];

t.test('a seed gives the same messages in any order, another one gives others', async (t) => {
  const one = messagePlan(7, NUMBERS);
  const again = messagePlan(7, NUMBERS);
  const forth = range(50).map((index) => [one.inbound(1, index), one.outbound(2, index)]);
  const back = range(50).map((index) => [again.inbound(1, 49 - index), again.outbound(2, 49 - index)]);
  t.same(back.reverse(), forth);
  t.not(messagePlan(8, NUMBERS).inbound(1, 0).text, one.inbound(1, 0).text);
});

t.test('a seed gives the same disturbances, in the order of progress', async (t) => {
  const run = { messages: 3_000, modems: 8, counts: usualCounts(1_500) };
  const plan = disturbancePlan(7, run);
  t.same(disturbancePlan(7, run), plan);
  t.not(disturbancePlan(8, run), plan);
  const progress = plan.map(({ atProgress }) => atProgress);
  t.same(
    progress,
    [...progress].sort((a, b) => a - b),
  );
  t.ok(progress.every((at) => at >= 0 && at < run.messages));
});

t.test(
  'sends are all different; inbound texts are, but for those that are repeated on purpose',
  async (t) => {
    const plan = messagePlan(7, NUMBERS);
    const sends = range(3).flatMap((modem) => range(400).map((index) => plan.outbound(modem, index).text));
    t.equal(new Set(sends).size, sends.length);
    const inbound = range(3).flatMap((modem) => range(400).map((index) => plan.inbound(modem, index)));
    const texts = new Set(inbound.map(({ text }) => text));
    const repeated = inbound.length - texts.size;
    t.ok(repeated > 5 && repeated < inbound.length / 10, `${repeated} repeated`);
    t.same(
      inbound.filter(({ key, text }) => keyOf(text) !== key),
      [],
      'each says who it is',
    );
  },
);

t.test('a planned text is cut as it says, from one part to five, in every alphabet', async (t) => {
  for (const alphabet of ALPHABETS) {
    for (const total of [1, 2, 3, 4, 5]) {
      for (const index of range(40)) {
        const random = randomOf(7, alphabet, total, index);
        const { text, parts } = plannedText(random, { key: 'o3#17', alphabet, total, referenceBits: 8 });
        const { encoding, segments } = segmentText(text);
        t.same(segments, parts);
        t.equal(encoding, alphabet === 'gsm7' ? 'gsm7' : 'ucs2');
        const marks = parts.map((_, part) => ({ key: 'o3#17', part: part + 1, total }));
        t.same(marksOf(text), marks);
        t.same(
          parts.flatMap((part) => marksOf(part)),
          marks,
          'each part says which it is',
        );
      }
    }
  }
});

t.test('every fault that may be played is one that the simulator takes', async (t) => {
  for (const template of FAULT_TABLE) {
    for (const index of range(30)) {
      const { body } = template.make(randomOf(7, template.kind, index), { modem: 1, name: `x${index}` });
      t.doesNotThrow(() => parseFault(body), template.kind);
    }
  }
});

t.test('every fault of the simulator is played, or left out for a reason', async (t) => {
  const made = FAULT_TABLE.map(
    ({ kind, make }) => make(randomOf(7, kind), { modem: 0, name: 'x0' }).body.kind,
  );
  const covered = new Set([...made, ...Object.keys(LEFT_OUT)]);
  const missing = kindsOfSimulator().filter((kind) => !covered.has(kind));
  t.same(missing, [], 'add them to fault-table.ts');
});

/** The simulator lists its kinds in the error for an unknown one. */
function kindsOfSimulator(): string[] {
  try {
    parseFault({ kind: '?' });
  } catch (error) {
    if (error instanceof FaultError) return error.message.replace(/^.* one of /, '').split(', ');
  }
  throw new Error('the simulator takes any kind');
}
