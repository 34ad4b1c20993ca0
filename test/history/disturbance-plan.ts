// When what is broken: faults of modems, kills and stalls of programs, as a pure function of the seed.
import { FAULT_TABLE, type FaultTemplate, type PlayedFault } from './fault-table.ts';
import { type Random, randomOf } from './random.ts';

const PROGRAMS = ['node-daemon', 'control-plane'] as const;
export type ProgramName = (typeof PROGRAMS)[number];

interface Due {
  /** When this many messages, of both ways, were accepted … */
  atProgress: number;
  /** … and this much time has passed since, it happens. */
  delayMs: number;
}

/** One thing that goes wrong. */
export type PlannedDisturbance = Due &
  (
    | { what: 'fault'; name: string; modem: number; fault: PlayedFault; mayReorder: boolean }
    | { what: 'kill'; program: ProgramName }
    /** The program stands still, its connections stay open: what a link that hangs looks like. */
    | { what: 'stall'; program: ProgramName; lastsMs: number }
  );

export interface DisturbanceCounts {
  faults: number;
  kills: number;
  stalls: number;
}

/** Nothing begins after this share of the run: the rest is for what began. */
const LAST_SHARE = 0.95;
/** Longer than two heartbeats of 10 s: the link is given up while its connection is still open. */
const STALL_MS_MAX = 25_000;

/** The default disturbances of a run of `messages` each way. */
export function usualCounts(messages: number): DisturbanceCounts {
  return {
    faults: Math.max(40, Math.round(messages / 125)),
    kills: Math.max(7, Math.round(messages / 1_600)),
    stalls: Math.max(2, Math.round(messages / 7_000)),
  };
}

/** Ordered by progress. `messages` is the number of messages of both ways together. */
export function disturbancePlan(
  seed: number,
  run: { messages: number; modems: number; counts: DisturbanceCounts; table?: readonly FaultTemplate[] },
): PlannedDisturbance[] {
  const { messages, modems, counts, table = FAULT_TABLE } = run;
  const due = (random: Random): Due => ({
    atProgress: Math.floor(random.next() * messages * LAST_SHARE),
    delayMs: random.integer(0, 1_500),
  });
  const faults = range(counts.faults).map((index): PlannedDisturbance => {
    const random = randomOf(seed, 'fault', index);
    const template = weighted(random, table);
    const modem = random.integer(0, modems - 1);
    const fault = template.make(random, { modem, name: `x${index}` });
    const { kind: name, mayReorder = false } = template;
    return { ...due(random), what: 'fault', name, modem, fault, mayReorder };
  });
  const kills = range(counts.kills).map((index): PlannedDisturbance => {
    const random = randomOf(seed, 'kill', index);
    return { ...due(random), what: 'kill', program: random.chance(0.6) ? 'node-daemon' : 'control-plane' };
  });
  const stalls = range(counts.stalls).map((index): PlannedDisturbance => {
    const random = randomOf(seed, 'stall', index);
    // Most are short; a few outlast the heartbeat.
    const lastsMs = random.chance(0.8) ? random.integer(200, 4_000) : random.integer(15_000, STALL_MS_MAX);
    return { ...due(random), what: 'stall', program: random.pick(PROGRAMS), lastsMs };
  });
  return [...faults, ...kills, ...stalls].sort((a, b) => a.atProgress - b.atProgress);
}

function weighted(random: Random, table: readonly FaultTemplate[]): FaultTemplate {
  let left = random.next() * table.reduce((sum, { weight }) => sum + weight, 0);
  for (const template of table) {
    left -= template.weight;
    if (left < 0) return template;
  }
  throw new Error('the table of faults is empty');
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);
