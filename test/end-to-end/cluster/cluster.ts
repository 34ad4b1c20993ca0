// Three instances of the service as an operator has them: a proxy in front, NATS, a primary Postgres with a standby, and one node. Each link
// between them can be cut, each program killed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import { enroll } from '#node-daemon/link/enroll.ts';
import { NatsServer } from '../../dev-stack/nats.ts';
import { Program, type ProgramSpec } from '../../dev-stack/program.ts';
import { startRoundRobin } from '../../dev-stack/round-robin.ts';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { type PaidChain, startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from '../../fixtures/database/replicated-postgres.ts';
import { CuttableLink } from '../../fixtures/network/cuttable-link.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { availableAt } from '../../fixtures/payments/presented.ts';
import { NO_SENDING_LIMITS } from '../../fixtures/service/no-sending-limits.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';

const INSTANCES = 3;
const READY_TIMEOUT_MS = 60_000;
const PROGRAMS_MAX = 100;

export interface Instance {
  name: string;
  url: string;
  program: Program;
  /** To it from the node, and from it to the others. */
  links: Record<'node' | 'nats' | 'postgres', CuttableLink>;
}

export interface Cluster {
  /** URL of the proxy in front. */
  url: string;
  simulatorUrl: string;
  chain: PaidChain;
  nats: NatsServer;
  postgres: ReplicatedPostgres;
  instances: readonly Instance[];
  /** Resolves when every instance takes requests and reaches the others. */
  ready(): Promise<void>;
}

const portOf = (url: string): number => Number(new URL(url).port);

/** Starts everything; it ends with the test. `modems`: of the node. */
export async function startCluster(t: Test, { modems }: { modems: number }): Promise<Cluster> {
  // Each program adds one, to end with this process.
  process.setMaxListeners(PROGRAMS_MAX);
  const dataDir = temporaryFolder(t);
  // Last started, first stopped.
  const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    t.teardown(() => part.stop());
    return part;
  };
  const chain = keep(await startPaidChain());
  const nats = await NatsServer.start();
  t.teardown(() => nats.kill());
  const postgres = keep(await startReplicatedPostgres());
  const databaseUrl = postgres.primaryOf(await postgres.createMigrated());

  const specOf = (program: ProgramSpec['program'], name: string, env: Record<string, string>) =>
    new Program({
      program,
      name,
      env: { LOG_LEVEL: 'info', ...env },
      logFile: join(dataDir, `${name}.log`),
    });
  const ports: number[] = [];
  while (ports.length < INSTANCES) ports.push(await freePort());
  const proxy = keep(await startRoundRobin(0, ports));
  const url = `http://127.0.0.1:${proxy.port}`;

  const instances: Instance[] = [];
  for (const [index, port] of ports.entries()) {
    const name = `control-plane-${index + 1}`;
    const links = {
      node: keep(await CuttableLink.open(port)),
      nats: keep(await CuttableLink.open(portOf(nats.url))),
      postgres: keep(await CuttableLink.open(portOf(databaseUrl))),
    };
    const ownDatabaseUrl = new URL(databaseUrl);
    ownDatabaseUrl.port = String(links.postgres.port);
    const program = specOf('control-plane', name, {
      ENVIRONMENT: 'development',
      CHAIN_ID: String(chain.chainId),
      RPC_URL: chain.rpcUrl,
      PAY_TO: PAY_TO.address,
      RELAYER_KEY: RELAYER.privateKey,
      ADMIT_NEW_SIMS: 'true',
      ...NO_SENDING_LIMITS,
      PAID_AHEAD_YEARS_MAX: '100',
      WEBHOOK_ALLOW_PRIVATE: 'true',
      PORT: String(port),
      PUBLIC_URL: url,
      DATA_DIR: dataDir,
      DATABASE_URL: ownDatabaseUrl.href,
      NATS_URL: `nats://127.0.0.1:${links.nats.port}`,
      MEDIA_BASE_URL: `http://127.0.0.1:${links.node.port}`,
      TOKEN_REQUESTS_PER_MINUTE: '100000',
    });
    await keep(program).start();
    instances.push({ name, url: `http://127.0.0.1:${port}`, program, links });
  }

  const rack = join(dataDir, 'rack');
  const simulator = keep(
    specOf('hardware-sim', 'hardware-sim', {
      SIMULATOR_PORT: '0',
      MODEMS: String(modems),
      RACK_DIR: rack,
    }),
  );
  const simulatorUrl = String((await simulator.start())['simulator_url']);
  const nodeProxy = keep(
    await startRoundRobin(
      0,
      instances.map(({ links }) => links.node.port),
    ),
  );
  const folder = join(dataDir, 'node');
  mkdirSync(folder);
  const { close, ...operator } = await openOperator({ databaseUrl, dataDir, url });
  const { code } = await operator.call('addNode', { node: 'cluster' });
  await close();
  await enroll({ folder, url: `http://127.0.0.1:${nodeProxy.port}`, code });
  writeFileSync(join(dataDir, 'node-daemon.yaml'), 'drain_seconds: 0\n');
  const daemon = keep(
    specOf('node-daemon', 'node-daemon', {
      DATA_DIR: folder,
      NODE_CONFIG: join(dataDir, 'node-daemon.yaml'),
      SYSFS_ROOT: join(rack, 'sys'),
      DEV_ROOT: join(rack, 'dev'),
      UV_THREADPOOL_SIZE: '16',
    }),
  );
  await daemon.start();
  await until('all numbers are on sale', async () => (await availableAt(url)) === modems, READY_TIMEOUT_MS);
  return {
    url,
    simulatorUrl,
    chain,
    nats,
    postgres,
    instances,
    ready: () =>
      until(
        'every instance is ready',
        async () => {
          const answers = await Promise.all(instances.map((instance) => statusOf(instance.url)));
          return answers.every((status) => status === 'pass');
        },
        READY_TIMEOUT_MS,
      ).then(() => undefined),
  };
}

async function statusOf(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(5_000) });
    return ((await response.json()) as { status: string }).status;
  } catch {
    return undefined;
  }
}
