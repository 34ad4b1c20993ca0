// How soon programs answer: `--help` of each, an operator's command against a running service, and `npm start` until it is ready.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../fixtures/run-program.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import type { Measurement } from './report.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

const WARM_UPS = 2;
const ROUNDS = 10;
const STARTS = 3;
const MODEMS = 10;
const READY_TIMEOUT_MS = 60_000;

const HELP_S_MAX = 0.25;
const COMMAND_S_MAX = 0.6;
const READY_S_MAX = 6;

const PROGRAMS: ReadonlyArray<[name: string, args: readonly string[]]> = [
  ['control-plane', [join(PROJECT_FOLDER, 'control-plane/bin.mjs')]],
  ['simrack', [join(PROJECT_FOLDER, 'control-plane/client/bin.mjs')]],
  ['node-daemon', [join(PROJECT_FOLDER, 'node-daemon/bin.cjs')]],
  ['hardware-sim', [join(PROJECT_FOLDER, 'hardware-sim/bin.mjs')]],
];

export async function benchStartup(): Promise<Measurement[]> {
  const bare: number[] = [];
  const helps = PROGRAMS.map((): number[] => []);
  for (let round = -WARM_UPS; round < ROUNDS; round += 1) {
    const node = await secondsOf(() => run(['-e', '0']));
    const seconds: number[] = [];
    for (const [, args] of PROGRAMS) seconds.push(await secondsOf(() => run([...args, '--help'])));
    if (round < 0) continue;
    bare.push(node);
    for (const [index, value] of seconds.entries()) helps[index]?.push(value);
  }
  const { commands, starts } = await measureStack();
  return [
    { name: 'node that does nothing', rounds: bare, unit: 's' },
    ...PROGRAMS.map(
      ([name], index): Measurement => ({
        name: `${name} --help`,
        rounds: helps[index] ?? [],
        unit: 's',
        target: { atMost: HELP_S_MAX },
      }),
    ),
    {
      name: 'control-plane node list, of a running service',
      rounds: commands,
      unit: 's',
      target: { atMost: COMMAND_S_MAX },
    },
    {
      name: `npm start with ${MODEMS} modems until ready`,
      rounds: starts,
      unit: 's',
      target: { atMost: READY_S_MAX },
    },
  ];
}

async function measureStack(): Promise<{ commands: number[]; starts: number[] }> {
  const commands: number[] = [];
  const starts: number[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    await withTemporaryFolder(async (folder) => {
      const startedAt = performance.now();
      const stack = spawn('npm', ['start'], {
        cwd: PROJECT_FOLDER,
        env: { ...process.env, PORT: '0', DATA_DIR: folder, MODEMS: String(MODEMS) },
        stdio: 'ignore',
      });
      try {
        const isReady = (): boolean => existsSync(join(folder, 'dev-stack.json'));
        await until('npm start is ready', isReady, READY_TIMEOUT_MS);
        starts.push((performance.now() - startedAt) / 1000);
        for (let count = 0; count < ROUNDS && round === 0; count += 1)
          commands.push(await secondsOf(() => listNodes(folder)));
      } finally {
        await ended(stack);
      }
    });
  }
  return { commands, starts };
}

async function listNodes(folder: string): Promise<void> {
  const { status, stderr } = await runProgram('control-plane', ['node', 'list'], { DATA_DIR: folder });
  if (status !== 0) throw new Error(stderr);
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

async function run(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
}

async function ended(child: ChildProcess): Promise<void> {
  const isClosed = once(child, 'close');
  child.kill('SIGTERM');
  await isClosed;
}
