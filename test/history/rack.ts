// The stage of a run: Postgres, and `npm start` around it in this process, every number sold to a wallet.
import { readFileSync } from 'node:fs';
import { keccak256, toHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type DevStack, type DevStackFile, startDevStack } from '../dev-stack/dev-stack.ts';
import { plantTestDollar } from '../dev-stack/test-dollar.ts';
import { PRICE } from '../fixtures/chain/paid-chain.ts';
import { openDatabases } from '../fixtures/database/postgres.ts';
import { buyNumber } from '../fixtures/payments/payer.ts';
import { NO_SENDING_LIMITS } from '../fixtures/service/no-sending-limits.ts';
import { until } from '../fixtures/until.ts';
import type { ProgramName } from './disturbance-plan.ts';
import { SEGMENTS_MAX } from './message-plan.ts';
import { Subscriber } from './subscriber.ts';

const CHAIN_ID = 84532;
const RESTART_TIMEOUT_MS = 60_000;

interface RackOptions {
  modems: number;
  /** Keeps everything, logs too. */
  dataDir: string;
  logLevel: string;
}

export class Rack {
  readonly #stack: DevStack;
  readonly #stopPostgres: () => Promise<void>;
  readonly #down: Set<string>;
  readonly #stalled = new Set<number>();

  readonly databaseUrl: string;

  private constructor(
    stack: DevStack,
    stopPostgres: () => Promise<void>,
    down: Set<string>,
    databaseUrl: string,
  ) {
    this.databaseUrl = databaseUrl;
    this.#stack = stack;
    this.#stopPostgres = stopPostgres;
    this.#down = down;
  }

  static async start({ modems, dataDir, logLevel }: RackOptions): Promise<Rack> {
    const postgres = await openDatabases();
    const databaseUrl = await postgres.createMigrated();
    // The stack hands its environment on to the programs.
    Object.assign(process.env, {
      DATABASE_URL: databaseUrl,
      SMS_SEGMENTS_MAX: String(SEGMENTS_MAX),
      ...NO_SENDING_LIMITS,
      LOG_LEVEL: logLevel,
    });
    const down = new Set<string>();
    const onEvent = (text: string): void => {
      const [program = '', verb] = text.split(' ');
      if (verb === 'died') down.add(program);
      else down.delete(program);
    };
    try {
      const ports = { port: 0, rpcPort: 0, simulatorPort: 0, consolePort: undefined, metricsPort: undefined };
      const stack = await startDevStack(
        { ...ports, modems, controlPlanes: 1, chainId: CHAIN_ID, databaseUrl, dataDir },
        onEvent,
      );
      return new Rack(stack, () => postgres.stop(), down, databaseUrl);
    } catch (error) {
      await postgres.stop();
      throw error;
    }
  }

  get simulatorUrl(): string {
    return this.#stack.file.simulator_url;
  }

  get url(): string {
    return this.#stack.file.base_url;
  }

  /** ICCIDs of all SIMs. */
  async iccids(): Promise<string[]> {
    const modems = (await (await fetch(`${this.simulatorUrl}/modems`)).json()) as Array<{
      iccid: string | null;
    }>;
    return modems.flatMap(({ iccid }) => iccid ?? []);
  }

  /** Sells every number, to a wallet each; by number. */
  async sell(modems: number): Promise<Map<string, Subscriber>> {
    const { rpc_url: rpcUrl, base_url: url } = this.#stack.file;
    const dollar = await plantTestDollar(rpcUrl, CHAIN_ID);
    const sold = new Map<string, Subscriber>();
    for (let buyer = 0; buyer < modems; buyer += 1) {
      const key = keccak256(toHex(`buyer ${buyer} of a history test`));
      await dollar.fund(privateKeyToAccount(key).address, PRICE);
      const account = await buyNumber(url, key);
      sold.set(account.number, new Subscriber(url, account));
    }
    return sold;
  }

  isUp(program: ProgramName): boolean {
    return !this.#down.has(program);
  }

  /** kill -9; resolves when the program is back. */
  async kill(program: ProgramName): Promise<void> {
    await this.awaitUp(program);
    this.#down.add(program);
    process.kill(this.#pidOf(program), 'SIGKILL');
    await this.awaitUp(program);
  }

  /** Stops a program in its tracks; resolves when it goes on. */
  async stall(program: ProgramName, lastsMs: number): Promise<void> {
    await this.awaitUp(program);
    const pid = this.#pidOf(program);
    process.kill(pid, 'SIGSTOP');
    this.#stalled.add(pid);
    await new Promise((resolve) => setTimeout(resolve, lastsMs));
    this.#goOn(pid);
  }

  awaitUp(program: ProgramName): Promise<boolean> {
    return until(`${program} is up`, () => this.isUp(program), RESTART_TIMEOUT_MS);
  }

  async stop(): Promise<void> {
    for (const pid of this.#stalled) this.#goOn(pid);
    await this.#stack.stop();
    await this.#stopPostgres();
  }

  #goOn(pid: number): void {
    if (this.#stalled.delete(pid)) process.kill(pid, 'SIGCONT');
  }

  #pidOf(program: ProgramName): number {
    const file = JSON.parse(readFileSync(this.#stack.path, 'utf8')) as DevStackFile;
    const pid = file.pids[program];
    if (pid === undefined || pid === 0) throw new Error(`no pid of ${program}`);
    return pid;
  }
}
