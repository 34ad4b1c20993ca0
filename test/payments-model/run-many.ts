// Many sequences, in several databases at once, each judged when it is over.
import type { TestDatabases } from '../fixtures/database/postgres.ts';
import { acceptModelSignatures } from './authorizations.ts';
import { type Finding, judge } from './judge.ts';
import { openLane } from './lane.ts';
import { planOf, storyOf } from './plan.ts';
import type { SequenceRecord } from './record.ts';
import { runSequence } from './run-sequence.ts';

export const SEED_MAX = 2 ** 31 - 1;
const REPORT_MS = 20_000;
/** The number of stories that are printed in full. */
const STORIES_MAX = 40;

interface ManyOptions {
  /** Seed of the first sequence; each further one has the next seed. */
  seed: number;
  sequences: number;
  lanes: number;
  postgres: Pick<TestDatabases, 'createMigrated'>;
  isTraced?: boolean;
  onProgress?: (text: string) => void;
  onBroken?: (story: string) => void;
}

interface ManyResult {
  /** Sequences that broke a rule. */
  broken: number;
  /** A summary of the run, in words. */
  totals: string;
  counts: ReadonlyMap<string, number>;
}

export async function runMany(options: ManyOptions): Promise<ManyResult> {
  const { isTraced = false, lanes, onBroken, onProgress, postgres, seed, sequences } = options;
  acceptModelSignatures();
  const counts = new Map<string, number>();
  const beganAtMs = Date.now();
  let [next, done, broken] = [0, 0, 0];
  const report = setInterval(() => onProgress?.(progress()), REPORT_MS);
  const progress = (): string => {
    const seconds = (Date.now() - beganAtMs) / 1000;
    return `${seconds.toFixed(0)} s: ${done} sequences, ${(done / seconds).toFixed(1)}/s, ${broken} broken`;
  };
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const lane = await openLane(await postgres.createMigrated());
      while (next < sequences) {
        const own = seed + next;
        next += 1;
        const record = await runSequence(planOf(own), lane);
        const findings = judge(record);
        tally(counts, record, findings);
        done += 1;
        if (findings.length > 0) broken += 1;
        if (isTraced || (findings.length > 0 && broken <= STORIES_MAX))
          onBroken?.(reported(record, findings));
      }
      await lane.close();
    }),
  ).finally(() => clearInterval(report));
  const list = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`);
  return { broken, totals: `${progress()}\n${list.join(', ')}`, counts };
}

function tally(counts: Map<string, number>, record: SequenceRecord, findings: readonly Finding[]): void {
  const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { answer } of record.presentations)
    add(`answer:${'code' in answer ? answer.code : answer.kind}`);
  for (const { state } of record.rows) add(`state:${state}`);
  for (const { action } of record.plan.steps) add(`action:${action.kind}`);
  for (const _ of record.deaths) add('deaths');
  for (const rule of new Set(findings.map((finding) => finding.rule))) add(`BROKEN:${rule}`);
}

/** The story of a sequence, and its findings. */
function reported(record: SequenceRecord, findings: readonly Finding[]): string {
  const { deaths, mined, plan, presentations, rows, signIns, snapshots } = record;
  return [
    `SEED ${plan.seed}`,
    ...storyOf(plan),
    ...presentations.map(
      ({ answer, authorization, step, ...rest }) =>
        `  a${authorization} in step ${step}: ${JSON.stringify(answer)} ${JSON.stringify(rest)}`,
    ),
    ...signIns.map((signIn) => `  sign-in ${JSON.stringify(signIn)}`),
    ...deaths.map((death) => `  died in ${death}`),
    ...mined.map(
      ({ authorization, blockNumber, kind, outcome, sender, nonce }) =>
        `  block ${blockNumber}: ${sender} ${kind} a${authorization.id} ${nonce ?? ''}: ${outcome}`,
    ),
    ...snapshots.map(
      ({ atMs, rows: seen, step }) =>
        `  after ${step} at ${new Date(atMs).toISOString()}: ${seen.map((row) => `${Number(BigInt(row.nonce) & 0xffffn)}:${row.state}${row.reservedNumber ? '+number' : ''}`).join(' ')}`,
    ),
    ...rows.map((row) => `  ${JSON.stringify(row)}`),
    ...findings.map(({ about, rule }) => `  VIOLATION ${rule}: ${about}`),
    '',
  ].join('\n');
}
