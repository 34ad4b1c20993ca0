// The control plane of the voice benches, and the holders of its numbers.
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { type Account, subscribeInStore } from '../../fixtures/agents/subscribed.ts';
import { type PaidChain, startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { AS_DEPLOYED, startPostgres } from '../../fixtures/database/postgres.ts';
import { rememberService } from '../../fixtures/nodes/enrolled-node.ts';
import { ScriptedLine } from '../../fixtures/nodes/scripted-line.ts';
import { ScriptedNode, slotAt } from '../../fixtures/nodes/scripted-node.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { NO_SENDING_LIMITS } from '../../fixtures/service/no-sending-limits.ts';
import { until } from '../../fixtures/until.ts';
import { type Child, startChild } from '../child.ts';

const NUMBERS_TIMEOUT_MS = 60_000;

export interface BenchService {
  service: Child;
  url: string;
  databaseUrl: string;
  chain: PaidChain;
  /** Starts another instance on the same database, and returns its URL. */
  beside(): Promise<string>;
  /** Waits until these numbers are known, and gives each a holder, in their order. */
  hold(numbers: readonly string[]): Promise<Account[]>;
  stop(): Promise<void>;
}

export async function startBenchService(env: Record<string, string> = {}): Promise<BenchService> {
  const [chain, postgres] = await Promise.all([startPaidChain(), startPostgres(AS_DEPLOYED)]);
  const databaseUrl = await postgres.createDatabase();
  const parts = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    DATA_DIR,
    RPC_URL: chain.rpcUrl,
    PAY_TO: PAY_TO.address,
    RELAYER_KEY: RELAYER.privateKey,
    ADMIT_NEW_SIMS: 'true',
    ...NO_SENDING_LIMITS,
    SOCKETS_PER_TOKEN: '2000',
    ...env,
  };
  const service = await startChild('control-plane/bin.mjs', parts);
  const url = String(service.ready['base_url']);
  rememberService(url, { databaseUrl, dataDir: DATA_DIR });
  const others: Child[] = [];
  return {
    service,
    url,
    databaseUrl,
    chain,
    async beside() {
      const other = await startChild('control-plane/bin.mjs', parts);
      others.push(other);
      return String(other.ready['base_url']);
    },
    async hold(numbers) {
      await until(
        'the numbers are known',
        async () => (await availableAt(url)) === numbers.length,
        NUMBERS_TIMEOUT_MS,
      );
      const accounts: Account[] = [];
      for (const [index, number] of numbers.entries()) {
        const address = `0x${String(index + 1).padStart(12, '0')}${'0'.repeat(28)}` as const;
        accounts.push(await subscribeInStore(databaseUrl, { address }, number));
      }
      return accounts;
    },
    async stop() {
      await Promise.all([service, ...others].map((each) => each.stop()));
      await Promise.all([chain.stop(), postgres.stop()]);
    },
  };
}

export interface VoiceService {
  service: Child;
  url: string;
  line: ScriptedLine;
  /** The holder of each number, in the order of slots from 1. */
  accounts: Account[];
  stop(): Promise<void>;
}

/** With the numbers in a scripted node. */
export async function startVoiceService(numbers: number): Promise<VoiceService> {
  const { service, url, hold, stop } = await startBenchService();
  const line = new ScriptedLine(url);
  const slots = Array.from({ length: numbers }, (_, index) => slotAt(index + 1));
  line.node = await ScriptedNode.connect(url, { slots, onCommand: line.onCommand });
  return {
    service,
    url,
    line,
    accounts: await hold(slots.map(({ number }) => String(number))),
    async stop() {
      await line.node?.drop();
      await stop();
    },
  };
}
