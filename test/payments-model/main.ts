// `node --import tsx test/payments-model/main.ts --seed N --sequences N`: the long run, with a verdict and an exit code.
import * as z from 'zod';
import { integerOption, readOptions } from '#shared/process/options.ts';
import { openDatabases } from '../fixtures/database/postgres.ts';
import { runMany, SEED_MAX } from './run-many.ts';

const OPTIONS = {
  seed: {
    env: 'PAYMENTS_SEED',
    about: 'of the first sequence; the others count on from it. Default a random one',
    schema: integerOption(0, SEED_MAX, -1),
  },
  sequences: { env: 'PAYMENTS_SEQUENCES', about: 'how many', schema: integerOption(1, 10_000_000, 100_000) },
  lanes: { env: 'PAYMENTS_LANES', about: 'databases at once', schema: integerOption(1, 32, 4) },
  trace: {
    env: 'PAYMENTS_TRACE',
    about: 'print all that was seen: yes or no',
    schema: z.string().default('no'),
  },
} as const;

const given = readOptions(
  'payments-model',
  'Random payers, chains and kills, and a model of who owns what.',
  OPTIONS,
);
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const seed = given.seed < 0 ? Math.floor(Math.random() * SEED_MAX) : given.seed;
say(`seed ${seed}`);
const postgres = await openDatabases();
const { broken, totals } = await runMany({
  seed,
  sequences: given.sequences,
  lanes: given.lanes,
  postgres,
  isTraced: given.trace === 'yes',
  onProgress: say,
  onBroken: say,
});
say(totals);
say(broken === 0 ? 'verdict: every rule held' : `verdict: FAILED, ${broken} sequences`);
await postgres.stop();
process.exit(broken === 0 ? 0 : 1);
