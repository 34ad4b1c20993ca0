// `node --import tsx test/history/main.ts --seed N`: the long run, with a verdict and an exit code.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { integerOption, LOG_LEVEL_OPTION, readOptions } from '#shared/process/options.ts';
import { verdictOf } from './checker/verdict.ts';
import { usualCounts } from './disturbance-plan.ts';
import { runHistory } from './run.ts';
import { randomSeed, SEED_MAX } from './seed.ts';

const OPTIONS = {
  seed: {
    env: 'HISTORY_SEED',
    about: 'repeats the messages, faults and kills of the run that printed it; default a random one',
    schema: integerOption(0, SEED_MAX, -1),
  },
  messages: {
    env: 'HISTORY_MESSAGES',
    about: 'messages each way',
    schema: integerOption(1, 1_000_000, 100_000),
  },
  modems: { env: 'MODEMS', about: 'modems in the rack', schema: integerOption(1, 64, 16) },
  faults: {
    env: 'HISTORY_FAULTS',
    about: 'faults to play; default by messages',
    schema: integerOption(0, 1e6, -1),
  },
  kills: { env: 'HISTORY_KILLS', about: 'kills; default by messages', schema: integerOption(0, 1e6, -1) },
  stalls: { env: 'HISTORY_STALLS', about: 'stalls; default by messages', schema: integerOption(0, 1e6, -1) },
  without: {
    env: 'HISTORY_WITHOUT',
    about: 'faults not to play, by name, with commas; "rogue" leaves out the node that claims all SIMs',
    schema: z.string().default(''),
  },
  limitMinutes: {
    env: 'HISTORY_LIMIT_MINUTES',
    about: 'traffic ends after this',
    schema: integerOption(1, 1_440, 60),
  },
  dataDir: {
    env: 'DATA_DIR',
    about: 'folder for logs and state; default a new one, kept when something is found',
    schema: z.string().default(''),
  },
  logLevel: LOG_LEVEL_OPTION,
} as const;

const DRAIN_LIMIT_MS = 180_000;

const given = readOptions('history', 'Random faults and kills, and a checker of every message.', OPTIONS);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const { messages, modems } = given;
const seed = given.seed < 0 ? randomSeed() : given.seed;
const usual = usualCounts(messages);
const orUsual = (kind: keyof typeof usual): number => (given[kind] < 0 ? usual[kind] : given[kind]);
const dataDir = given.dataDir || mkdtempSync(join(tmpdir(), 'simrack-history-'));
say(`seed ${seed}; everything is kept in ${dataDir}`);

const options = {
  seed,
  messages,
  modems,
  dataDir,
  logLevel: given.logLevel,
  counts: { faults: orUsual('faults'), kills: orUsual('kills'), stalls: orUsual('stalls') },
  without: given.without.split(','),
  trafficLimitMs: given.limitMinutes * 60_000,
  drainLimitMs: DRAIN_LIMIT_MS,
  onProgress: say,
};
const result = await runHistory(options);
say(verdictOf(options, result));
const isGood = result.findings.total === 0 && result.isComplete;
if (isGood && given.dataDir === '') rmSync(dataDir, { recursive: true, force: true });
process.exit(isGood ? 0 : 1);
