// Instances of the service on one Postgres, NATS between them and a proxy before them.
import { Client, type QueryResultRow } from 'pg';
import { NatsServer } from '../../dev-stack/nats.ts';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { AS_DEPLOYED, startPostgres } from '../../fixtures/database/postgres.ts';
import { DATA_DIR } from '../../fixtures/service/data-dir.ts';
import { NO_SENDING_LIMITS } from '../../fixtures/service/no-sending-limits.ts';
import { type Child, startChild } from '../child.ts';

/** Connections for instances of ten each, and for the bench. */
const POSTGRES = [...AS_DEPLOYED, 'max_connections=100', 'shared_buffers=256MB', 'max_wal_size=4GB'];

const LISTENERS_MAX = 50;

export interface Cluster {
  instances: Child[];
  /** URL of each instance. */
  urls: string[];
  /** URL of the proxy. */
  url: string;
  databaseUrl: string;
  natsUrl: string;
  proxyPid: number;
  /** Runs SQL on its database. */
  query<Row extends QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}

interface ClusterOptions {
  instances: number;
  env?: Record<string, string>;
  nodeFlags?: readonly string[];
}

export async function startCluster({
  instances: count,
  env = {},
  nodeFlags = [],
}: ClusterOptions): Promise<Cluster> {
  const [chain, postgres, nats] = await Promise.all([
    startPaidChain(),
    startPostgres(POSTGRES),
    NatsServer.start(),
  ]);
  // Each program beside the bench has one.
  process.setMaxListeners(LISTENERS_MAX);
  const databaseUrl = await postgres.createDatabase();
  const client = new Client({ connectionString: databaseUrl });
  const instances: Child[] = [];
  for (let index = 0; index < count; index += 1)
    instances.push(
      await startChild(
        'control-plane/bin.mjs',
        {
          PORT: '0',
          DATABASE_URL: databaseUrl,
          DATA_DIR,
          NATS_URL: nats.url,
          RPC_URL: chain.rpcUrl,
          PAY_TO: PAY_TO.address,
          RELAYER_KEY: RELAYER.privateKey,
          ADMIT_NEW_SIMS: 'true',
          ...NO_SENDING_LIMITS,
          SOCKETS_PER_TOKEN: '10000',
          LOG_LEVEL: 'error',
          ...env,
        },
        nodeFlags,
      ),
    );
  const urls = instances.map(({ ready }) => String(ready['base_url']));
  const proxy = await startChild('test/bench/scale/proxy-process.ts', {
    TARGETS: urls.map((url) => new URL(url).port).join(','),
  });
  await client.connect();
  return {
    instances,
    urls,
    url: String(proxy.ready['base_url']),
    databaseUrl,
    natsUrl: nats.url,
    proxyPid: proxy.pid,
    query: async <Row extends QueryResultRow>(text: string, values: unknown[] = []) =>
      (await client.query<Row>(text, values)).rows,
    async stop() {
      await proxy.stop();
      await Promise.all(instances.map((each) => each.stop()));
      await client.end();
      await Promise.all([chain.stop(), postgres.stop(), nats.kill()]);
    },
  };
}
