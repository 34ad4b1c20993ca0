// How a measurement is printed: median and spread of its rounds, beside what it must reach.
import { alignedTable } from '#shared/process/terminal.ts';

export interface Measurement {
  name: string;
  /** One value a round. */
  rounds: readonly number[];
  unit: string;
  /** The bound that the median must keep; none for a value that is only reported. */
  target?: { atLeast: number } | { atMost: number };
  /** The values behind a ratio, for instance "6100/s against 14000/s". */
  remark?: string;
}

export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Nearest-rank percentile, 0 to 100. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export function holds({ rounds, target }: Measurement): boolean {
  if (target === undefined) return true;
  return 'atLeast' in target ? median(rounds) >= target.atLeast : median(rounds) <= target.atMost;
}

export function toTable(measurements: readonly Measurement[]): string {
  const rows = measurements.map((measurement) => [
    measurement.name,
    `${round(median(measurement.rounds))} ${measurement.unit}`,
    `${round(Math.min(...measurement.rounds))}–${round(Math.max(...measurement.rounds))}`,
    ...judgement(measurement),
    measurement.remark ?? '',
  ]);
  return alignedTable(['measured', 'median', 'spread', 'target', '', ''], rows);
}

function judgement(measurement: Measurement): [target: string, judgement: string] {
  const { target } = measurement;
  if (target === undefined) return ['', ''];
  return [
    'atLeast' in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`,
    holds(measurement) ? 'ok' : 'MISS',
  ];
}

function round(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
