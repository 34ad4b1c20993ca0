// A short history with everything breaking and a rogue node beside the honest one: every rule of the checker holds. `HISTORY_SEED` repeats a run.
import t from 'tap';
import { isWhole } from '../fixtures/sweep.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { verdictOf } from './checker/verdict.ts';
import { usualCounts } from './disturbance-plan.ts';
import { runHistory } from './run.ts';
import { randomSeed } from './seed.ts';

const MESSAGES = isWhole() ? 1_500 : 250;

const TIMEOUT_MS = 400_000;

// Timeout of this process; the runner gives others less.
t.setTimeout(TIMEOUT_MS);

t.test(
  'through faults of modems, kill -9 and a rogue node, nothing is lost, doubled, reordered, forged or sent twice',
  { timeout: TIMEOUT_MS },
  async (t) => {
    const seed = Number(process.env['HISTORY_SEED'] ?? randomSeed());
    t.comment(`HISTORY_SEED=${seed}`);
    const options = {
      seed,
      messages: MESSAGES,
      modems: 8,
      counts: usualCounts(MESSAGES),
      without: [],
      dataDir: temporaryFolder(t),
      logLevel: 'error',
      trafficLimitMs: 180_000,
      drainLimitMs: 150_000,
      onProgress: (text: string) => t.comment(text),
    };
    const result = await runHistory(options);
    t.comment(verdictOf(options, result));
    t.ok(result.isComplete, 'all messages were accepted in time');
    t.same(result.findings.examples, [], `HISTORY_SEED=${seed} repeats it`);
    t.ok(result.totals.received >= MESSAGES, 'messages were received');
    t.ok(result.totals.orderCompared > MESSAGES / 2, 'orders were compared');
    t.ok(result.played.size > 10, 'faults were played');
    t.ok((result.rogue?.forged ?? 0) > MESSAGES / 15, 'a rogue node forged texts and calls of every number');
  },
);
