// Both sides of a ratio in one run: alternating rounds, after some that warm up.
import type { Measurement } from './report.ts';

/** One side's work in a round: things per second. */
type Side = () => Promise<number>;

interface Comparison {
  name: string;
  ours: Side;
  theirs: Side;
  rounds: number;
  /** The ratio that the median must reach, where one is promised. */
  atLeast?: number;
  /** The unit of the count: "SMS/s". */
  unit: string;
}

/** Node compiles what is hot in steps: the first rounds are slower. */
const WARM_UPS = 2;

/** The ratio, and what we did in each round. */
export interface Compared {
  measurement: Measurement;
  ours: number[];
}

export async function compare(comparison: Comparison): Promise<Compared> {
  const { name, ours, theirs, rounds, atLeast, unit } = comparison;
  const ratios: number[] = [];
  const ourRounds: number[] = [];
  let remark = '';
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    const a = await ours();
    const b = await theirs();
    if (round >= 0) {
      ratios.push(a / b);
      ourRounds.push(a);
    }
    remark = `last round ${a.toFixed(0)} ${unit} against ${b.toFixed(0)} ${unit}`;
  }
  const target = atLeast === undefined ? {} : { target: { atLeast } };
  return { measurement: { name, rounds: ratios, unit: '×', ...target, remark }, ours: ourRounds };
}

/** Our rounds against a program that is too slow to alternate with: at least as fast is the promise. */
export function against(name: string, ours: readonly number[], theirs: number): Measurement {
  const remark = `${theirs.toFixed(1)} SMS/s`;
  return { name, rounds: ours.map((each) => each / theirs), unit: '×', target: { atLeast: 1 }, remark };
}

/** Things per second of work that does `count` of them. */
export async function perSecond(count: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (count * 1000) / (performance.now() - startedAt);
}
