// The service as a process of its own, with a node and Alice's number: what is done to it kills it and not the test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Test } from 'tap';
import { BUYERS, PAY_TO, RELAYER, type Wallet } from '../../../dev-stack/wallets.ts';
import { rememberService } from '../../../fixtures/enrolled-node.ts';
import type { Rig } from '../../../fixtures/rig.ts';
import { ScriptedLine } from '../../../fixtures/scripted-line.ts';
import { slotAt } from '../../../fixtures/scripted-node.ts';
import { type Account, subscribeInStore } from '../../../fixtures/subscribed.ts';

/** More than this makes it die: a leak is found even where the system has room. */
const HEAP_MEGABYTES = 256;
const UNLIMITED = '1000000';
/** Of pino. */
const LEVEL_ERROR = 50;

export interface ServiceChild {
  url: string;
  alice: Account;
  line: ScriptedLine;
  /** Resident memory, after its garbage was collected as far as it does it by itself. */
  megabytes(): number;
  isAlive(): boolean;
  /** What it wrote that is no log line, and lines of the level error. */
  complaints(): string[];
}

export async function startServiceChild(t: Test, rig: Rig): Promise<ServiceChild> {
  const databaseUrl = await rig.postgres.createDatabase();
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MEGABYTES}`, '--import', 'tsx', 'control-plane/main.ts'],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        ...{ PORT: '0', DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', DIAL_TIMEOUT_MS: '1000' },
        ...{
          CHAIN_ID: String(rig.chain.chainId),
          RPC_URL: rig.chain.rpcUrl,
          RELAYER_KEY: RELAYER.privateKey,
        },
        ...{
          PAY_TO: PAY_TO.address,
          STREAM_HOLD_MS: '0',
          SOCKETS_PER_TOKEN: '1000',
          SETTLEMENT_WAIT_MS: '2000',
        },
        ...{ REQUESTS_PER_MINUTE: UNLIMITED, TOKEN_REQUESTS_PER_MINUTE: UNLIMITED },
        ...{ AUTH_NONCES_PER_MINUTE: UNLIMITED, AUTH_ATTEMPTS_PER_MINUTE: UNLIMITED },
        WAITLIST_PER_MINUTE: UNLIMITED,
      },
    },
  );
  const written: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => written.push(line));
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const [ready] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(written.join('\n')))),
  ])) as [string];
  const { base_url: url } = JSON.parse(ready) as { base_url: string };
  rememberService(url, { databaseUrl, dataDir: '/nonexistent' });
  const line = new ScriptedLine(url);
  const slots = [1, 2, 3, 4].map((index) => slotAt(index));
  line.node = await rig.connect(t, url, { slots, onCommand: line.onCommand });
  const alice = await subscribeInStore(databaseUrl, BUYERS[0] as Wallet, String(slotAt(1).number));
  return {
    ...{ url, alice, line },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    megabytes() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    },
    complaints: () => written.filter((text) => !text.startsWith('{') || levelOf(text) >= LEVEL_ERROR),
  };
}

const levelOf = (line: string): number => (JSON.parse(line) as { level: number }).level;
