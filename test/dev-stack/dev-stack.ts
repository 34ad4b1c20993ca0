// The whole of Simrack on loopback: chain, control plane, rack of simulated modems, node daemon, in their order.
import { createPrivateKey } from 'node:crypto';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import type { Address, Hex } from 'viem';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { enroll } from '#node-daemon/link/enroll.ts';
import { fingerprintOf, identityPath, nodeNameOf, readIdentityRecord } from '#node-daemon/link/identity.ts';
import { listen } from '#shared/process/listen.ts';
import { lockFolder } from '#shared/process/single-instance.ts';
import { type LocalChain, startChain } from './chain.ts';
import { mineOnTop, SHORT_EPOCH } from './empty-blocks.ts';
import { startInstances } from './instances.ts';
import { endLeftovers } from './leftovers.ts';
import { type DevStackOptions, OPTIONS } from './options.ts';
import { Program, type ProgramSpec } from './program.ts';
import { writeServiceEnvironment } from './service-environment.ts';
import { DOLLAR, plantTestDollar } from './test-dollar.ts';
import { BUYERS, PAY_TO, RELAYER } from './wallets.ts';

/** Every buyer has at least this after a start. */
const BUYER_DOLLARS = 100_000n * DOLLAR;

/** In a folder that was used before, all numbers may be sold: there is little to wait for. */
const POOL_TIMEOUT_MS = { new: 10_000, used: 2_000 } as const;
const POOL_POLL_MS = 50;

const NODE_NAME = 'dev';

/** `dev-stack.json`: where scripts in any language start from. */
export interface DevStackFile {
  base_url: string;
  /** URL of the operator console; null without one. */
  console_url: string | null;
  /** URL of each instance of the service. */
  base_urls: string[];
  rpc_url: string;
  chain_id: number;
  asset: Address;
  pay_to: Address;
  simulator_url: string;
  wallets: Array<{ address: Address; private_key: Hex }>;
  /** Process of the stack; ending it ends all. */
  pid: number;
  /** Process of each child; the stack restarts a program of ours that is killed. */
  pids: Record<string, number>;
}

export interface DevStack {
  file: DevStackFile;
  path: string;
  stop(): Promise<void>;
}

const PORTS = ['port', 'rpcPort', 'simulatorPort', 'consolePort', 'metricsPort'] as const;

/** Throws before anything is started if a port is taken: the program that needs it would find out only after seconds. */
async function checkPorts(options: DevStackOptions): Promise<void> {
  for (const name of PORTS) {
    const { env } = OPTIONS[name];
    const port = options[name] ?? 0;
    if (port === 0) continue;
    const advice = `Choose another one, for example ${env}=${port === 65_535 ? port - 1 : port + 1}`;
    const { stop } = await listen(createServer(), { port, option: env }).catch((cause: Error) => {
      throw new Error(`${cause.message}. ${advice}`, { cause });
    });
    await stop();
  }
}

/** Starts everything, or leaves nothing behind and throws. `onEvent` is called with later events. */
export async function startDevStack(
  options: DevStackOptions,
  onEvent: (text: string) => void,
): Promise<DevStack> {
  const dataDir = resolve(options.dataDir);
  const isNew = !existsSync(join(dataDir, 'rack'));
  const path = join(dataDir, 'dev-stack.json');
  const unlock = await lockFolder(dataDir, 'dev-stack', 0o700, `another npm start (pid ${process.pid})`);
  await endLeftovers(path);
  rmSync(path, { force: true });
  const started: Array<() => Promise<void>> = [unlock];
  const stop = async (): Promise<void> => {
    rmSync(path, { force: true });
    // Last started, first stopped.
    for (const end of started.splice(0).reverse()) await end();
  };
  try {
    await checkPorts(options);
    const chain = await startChain({
      chainId: options.chainId,
      port: options.rpcPort,
      stateFile: join(dataDir, 'chain.json'),
      flags: SHORT_EPOCH,
    });
    started.push(() => chain.stop());
    const endMining = mineOnTop(chain.rpcUrl);
    started.push(async () => endMining());
    const dollar = await plantTestDollar(chain.rpcUrl, options.chainId);
    for (const buyer of BUYERS) await dollar.fund(buyer.address, BUYER_DOLLARS);

    const keys = writeKeys(dataDir);

    const specOf = specsOf({ dataDir, onEvent: report });
    const programs: Record<string, Program> = {};
    const file: DevStackFile = {
      base_url: '',
      console_url: options.consolePort === undefined ? null : `http://127.0.0.1:${options.consolePort}`,
      base_urls: [],
      rpc_url: chain.rpcUrl,
      chain_id: options.chainId,
      asset: dollar.asset,
      pay_to: PAY_TO.address,
      simulator_url: '',
      wallets: BUYERS.map(({ address, privateKey }) => ({ address, private_key: privateKey })),
      pid: process.pid,
      pids: { chain: chain.pid },
    };
    function report(text: string): void {
      if (existsSync(path)) writeFile(path, withPids(file, programs));
      onEvent(text);
    }
    const start = async (program: Program): Promise<Record<string, unknown>> => {
      started.push(() => program.stop());
      return program.start();
    };
    const { simulator, daemon } = describeRack(options, { dataDir, specOf });
    file.simulator_url = String((await start(simulator))['simulator_url']);
    // A program that is started again must be found where it was.
    simulator.setEnv({ SIMULATOR_PORT: new URL(file.simulator_url).port });
    const service = await startInstances(
      { ...options, instances: options.controlPlanes, dataDir },
      (name, env) =>
        specOf('control-plane', name, {
          ...serviceEnv(options, chain, keys.relayer),
          DATA_DIR: dataDir,
          ...env,
        }),
      (end) => started.push(end),
    );
    Object.assign(programs, { ...service.programs, 'node-daemon': daemon, 'hardware-sim': simulator });
    Object.assign(file.pids, service.pids);
    file.base_url = service.baseUrl;
    file.base_urls = service.baseUrls;
    const [first] = Object.values(service.programs);
    writeServiceEnvironment(join(dataDir, 'control-plane.env'), {
      ...first?.env,
      REFUND_KEY_FILE: keys.payTo,
    });
    writeFileSync(nodeConfigPath(dataDir), await nodeConfig(file.simulator_url));
    await enrollRack({ databaseUrl: service.databaseUrl, dataDir, url: file.base_url });
    await start(daemon);
    if (admitsNewSims())
      await (isNew
        ? poolIsReady(file.base_url, options.modems, POOL_TIMEOUT_MS.new)
        : poolIsReady(file.base_url, 1, POOL_TIMEOUT_MS.used));
    writeFile(path, withPids(file, programs));
    return { file, path, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type SpecOf = (program: ProgramSpec['program'], name: string, env: Record<string, string>) => ProgramSpec;

function specsOf({ dataDir, onEvent }: { dataDir: string; onEvent: (text: string) => void }): SpecOf {
  const logLevel = process.env['LOG_LEVEL'] || 'info';
  return (program, name, env) => ({
    program,
    name,
    env: { LOG_LEVEL: logLevel, ...env },
    logFile: join(dataDir, `${name}.log`),
    onEvent,
  });
}

/** Key files, as a service and its operator have them. */
function writeKeys(dataDir: string): { relayer: string; payTo: string } {
  const write = (name: string, key: Hex): string => {
    const path = join(dataDir, name);
    writeFileSync(path, `${key}\n`, { mode: 0o600 });
    return path;
  };
  return {
    relayer: write('relayer.key', RELAYER.privateKey),
    payTo: write('pay-to.key', PAY_TO.privateKey),
  };
}

/** A developer may try how an operator admits SIMs. */
const admitsNewSims = (): boolean => process.env['ADMIT_NEW_SIMS'] !== 'false';

const portEnv = (name: string, port: number | undefined): Record<string, string> =>
  port === undefined ? {} : { [name]: String(port) };

const serviceEnv = (
  options: DevStackOptions,
  chain: LocalChain,
  relayerKeyFile: string,
): Record<string, string> => ({
  ENVIRONMENT: 'development',
  CHAIN_ID: String(options.chainId),
  RPC_URL: chain.rpcUrl,
  PAY_TO: PAY_TO.address,
  RELAYER_KEY_FILE: relayerKeyFile,
  // One in the environment of `npm start` is of another chain.
  RELAYER_KEY: '',
  ADMIT_NEW_SIMS: String(admitsNewSims()),
  ...portEnv('CONSOLE_PORT', options.consolePort),
  ...portEnv('METRICS_PORT', options.metricsPort),
  // Receivers of a trial run on this host.
  WEBHOOK_ALLOW_PRIVATE: 'true',
});

function describeRack(
  options: DevStackOptions,
  { dataDir, specOf }: { dataDir: string; specOf: SpecOf },
): { simulator: Program; daemon: Program } {
  const rack = join(dataDir, 'rack');
  const simulator = specOf('hardware-sim', 'hardware-sim', {
    SIMULATOR_PORT: String(options.simulatorPort),
    MODEMS: String(options.modems),
    RACK_DIR: rack,
  });
  const daemon = specOf('node-daemon', 'node-daemon', {
    DATA_DIR: nodeFolder(dataDir),
    NODE_CONFIG: nodeConfigPath(dataDir),
    SYSFS_ROOT: join(rack, 'sys'),
    DEV_ROOT: join(rack, 'dev'),
    // As its own start file does: its ports open side by side.
    UV_THREADPOOL_SIZE: '16',
  });
  return { simulator: new Program(simulator), daemon: new Program(daemon) };
}

/** The operator's file: the names of the simulator's slots, which stay when a modem comes back elsewhere; and Ctrl-C is meant. */
async function nodeConfig(simulatorUrl: string): Promise<string> {
  const modems = (await (await fetch(`${simulatorUrl}/modems`)).json()) as Array<{
    slot: string;
    imei: string;
  }>;
  return [
    'drain_seconds: 0',
    'slots:',
    ...modems.map(({ slot, imei }) => `  - { name: ${slot}, imei: ${imei} }`),
    '',
  ].join('\n');
}

async function poolIsReady(baseUrl: string, expected: number, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    const { available } = (await (await fetch(`${baseUrl}/availability`)).json()) as { available: number };
    if (available >= expected) return;
    await new Promise((resolve) => setTimeout(resolve, POOL_POLL_MS));
  }
}

const nodeFolder = (dataDir: string): string => join(dataDir, 'node');
const nodeConfigPath = (dataDir: string): string => join(dataDir, 'node-daemon.yaml');

/** As an operator does it. Again if the port is another one, or the database does not know the key. */
async function enrollRack({
  databaseUrl,
  dataDir,
  url,
}: {
  databaseUrl: string | undefined;
  dataDir: string;
  url: string;
}): Promise<void> {
  const { close, ...operator } = await openOperator({ databaseUrl, dataDir, url });
  try {
    const folder = nodeFolder(dataDir);
    const node = (await operator.call('nodes', {})).find(({ name }) => name === NODE_NAME);
    if (node?.state !== 'revoked' && isEnrolledAs(folder, url, node?.fingerprint)) return;
    const { code } = await operator.call('addNode', { node: NODE_NAME });
    await enroll({ folder, url, code, mayReplace: true });
  } finally {
    await close();
  }
}

function isEnrolledAs(folder: string, url: string, fingerprint: string | null | undefined): boolean {
  if (nodeNameOf(folder) !== NODE_NAME) return false;
  const record = readIdentityRecord(identityPath(folder));
  return (
    record?.control_plane_url === url && fingerprintOf(createPrivateKey(record.private_key)) === fingerprint
  );
}

function withPids(file: DevStackFile, programs: Record<string, Program>): DevStackFile {
  const pids = Object.entries(programs).map(([name, program]) => [name, program.pid]);
  return { ...file, pids: { ...file.pids, ...Object.fromEntries(pids) } };
}

function writeFile(path: string, file: DevStackFile): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
