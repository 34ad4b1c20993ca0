// 200 nodes with 16 modems each after their control plane was killed, and after it was stopped: linked again within 5 s.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { percentile } from '../bench/report.ts';
import { PAY_TO, RELAYER } from '../dev-stack/wallets.ts';
import { startPaidChain } from '../fixtures/chain/paid-chain.ts';
import { openDatabases } from '../fixtures/database/postgres.ts';
import { NodeFleet } from '../fixtures/nodes/node-fleet.ts';
import { availableAt } from '../fixtures/payments/presented.ts';
import { until } from '../fixtures/until.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const NODES = 200;
const MODEMS = 16;
const P99_MAX_MS = 5_000;

async function startProgram(env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ['control-plane/bin.mjs'], {
    cwd: PROJECT_FOLDER,
    env: { ...process.env, LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  return { child, url: (JSON.parse(String(line)) as { base_url: string }).base_url };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function setUp(t: Test) {
  const [chain, postgres] = await Promise.all([startPaidChain(), openDatabases()]);
  t.teardown(() => Promise.all([chain.stop(), postgres.stop()]));
  const databaseUrl = await postgres.createDatabase();
  const env = {
    DATABASE_URL: databaseUrl,
    RPC_URL: chain.rpcUrl,
    PORT: '0',
    PAY_TO: PAY_TO.address,
    RELAYER_KEY: RELAYER.privateKey,
    ADMIT_NEW_SIMS: 'true',
  };
  let { child, url } = await startProgram(env);
  t.teardown(() => end(child, 'SIGKILL'));
  const fleet = await NodeFleet.start(url, databaseUrl, { size: NODES, modems: MODEMS });
  t.teardown(() => fleet.stop());
  const available = () => availableAt(url);
  const allOnSale = () => until('all numbers', async () => (await available()) === NODES * MODEMS, 60_000);
  await allOnSale();
  /** Ends the control plane and starts it again where it was; how long after its start each node was linked. */
  const restart = async (signal: NodeJS.Signals): Promise<number[]> => {
    fleet.expectRestart();
    await end(child, signal);
    // A node that found an open link between the signal and the end has lost it by now.
    fleet.expectRestart();
    ({ child } = await startProgram({ ...env, PORT: new URL(url).port }));
    const startedAt = performance.now();
    const instants = await fleet.allLinked();
    return instants.map((instant) => instant - startedAt);
  };
  return { restart, allOnSale };
}

t.test('200 nodes link again within 5 s', { timeout: 180_000 }, async (t) => {
  const { restart, allOnSale } = await setUp(t);
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const waits = await restart(signal);
    const p99 = percentile(waits, 99);
    const ms = (percent: number): string => `${percentile(waits, percent).toFixed(0)} ms`;
    t.comment(`${signal}: p50 ${ms(50)}, p99 ${ms(99)}, last ${ms(100)} after the start`);
    t.ok(p99 <= P99_MAX_MS, `p99 after ${signal} is at most ${P99_MAX_MS} ms`);
    const spread = percentile(waits, 95) - percentile(waits, 5);
    t.ok(spread > 100, 'they do not come all at the same instant');
    await allOnSale();
  }
});
