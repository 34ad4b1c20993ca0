// The service as a process of its own, with a node and Alice's number: what is done to it kills it and not the test.
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { ALICE } from '../../../dev-stack/wallets.ts';
import { type Account, subscribeInStore } from '../../../fixtures/agents/subscribed.ts';
import { ScriptedLine } from '../../../fixtures/nodes/scripted-line.ts';
import { slotAt } from '../../../fixtures/nodes/scripted-node.ts';
import type { Rig } from '../../../fixtures/service/rig.ts';
import { startServiceProcess } from '../../../fixtures/service/service-process.ts';

/** More than this makes it die: a leak is found even where the system has room. */
const HEAP_MEGABYTES = 256;
const UNLIMITED = '1000000';
/** Level of errors in pino. */
const LEVEL_ERROR = 50;

interface ServiceChild {
  url: string;
  alice: Account;
  line: ScriptedLine;
  /** Resident memory, after its garbage was collected as far as it does it by itself. */
  megabytes(): number;
  isAlive(): boolean;
  /** Its output that is no log line, and lines of the level error. */
  complaints(): string[];
}

export async function startServiceChild(t: Test, rig: Rig): Promise<ServiceChild> {
  const databaseUrl = await rig.postgres.createMigrated();
  const service = await startServiceProcess(t, {
    databaseUrl,
    rpcUrl: rig.chain.rpcUrl,
    nodeFlags: [`--max-old-space-size=${HEAP_MEGABYTES}`],
    env: {
      CHAIN_ID: String(rig.chain.chainId),
      LOG_LEVEL: 'warn',
      DIAL_TIMEOUT_MS: '1000',
      STREAM_HOLD_MS: '0',
      SOCKETS_PER_TOKEN: '1000',
      CONNECTIONS_PER_ADDRESS: '100000',
      SETTLEMENT_WAIT_MS: '2000',
      REQUESTS_PER_MINUTE: UNLIMITED,
      TOKEN_REQUESTS_PER_MINUTE: UNLIMITED,
      AUTH_NONCES_PER_MINUTE: UNLIMITED,
      AUTH_ATTEMPTS_PER_MINUTE: UNLIMITED,
      WAITLIST_PER_MINUTE: UNLIMITED,
    },
  });
  const { isAlive, pid, url } = service;
  const line = new ScriptedLine(url);
  const slots = [1, 2, 3, 4].map((index) => slotAt(index));
  line.node = await rig.connect(t, url, { slots, onCommand: line.onCommand });
  const alice = await subscribeInStore(databaseUrl, ALICE, String(slotAt(1).number));
  return {
    url,
    alice,
    line,
    isAlive,
    megabytes() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
    },
    complaints: () =>
      service
        .log()
        .split('\n')
        .slice(0, -1)
        .filter((text) => !text.startsWith('{') || levelOf(text) >= LEVEL_ERROR),
  };
}

const levelOf = (line: string): number => (JSON.parse(line) as { level: number }).level;
