// One service, its own Postgres, and two racks. Everything that an operator has, and everything that can die.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { openOperator } from '#control-plane/operator/open-operator.ts';
import type { Operator } from '#control-plane/operator/procedures/all-procedures.ts';
import { startInstances } from '../../dev-stack/instances.ts';
import type { Program } from '../../dev-stack/program.ts';
import { PAY_TO, RELAYER } from '../../dev-stack/wallets.ts';
import { startPaidChain } from '../../fixtures/chain/paid-chain.ts';
import { startPostgres } from '../../fixtures/database/postgres.ts';
import { freePort } from '../../fixtures/network/free-port.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { NO_SENDING_LIMITS } from '../../fixtures/service/no-sending-limits.ts';
import { instanceCount } from '../../fixtures/service/several-instances.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { until } from '../../fixtures/until.ts';
import { type Rack, type RackModem, startRack } from './rack.ts';

const READY_TIMEOUT_MS = 120_000;
export const RACKS = ['rack-1', 'rack-2'] as const;

/** A modem, and the rack that it is in. */
interface Place extends RackModem {
  rack: Rack;
}

/** `perRack`: modems of each. Everything ends with the test. */
export async function startFleet(t: Test, perRack: number) {
  const dataDir = temporaryFolder(t);
  // Last started, first stopped.
  const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    t.teardown(() => part.stop());
    return part;
  };
  const [chain, postgres] = await Promise.all([startPaidChain(), startPostgres()]);
  keep(chain);
  keep(postgres);

  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let place = { databaseUrl: await postgres.createMigrated(), dataDir: join(dataDir, 'host-1') };
  mkdirSync(place.dataDir);
  const startService = async ({ databaseUrl, dataDir: folder }: typeof place, host: string) => {
    const stops: Array<() => Promise<unknown>> = [];
    const stop = async (): Promise<void> => {
      for (const each of stops.splice(0).reverse()) await each();
    };
    t.teardown(stop);
    const { baseUrls, programs } = await startInstances(
      { port, instances: instanceCount(), databaseUrl, dataDir: folder },
      (name, own) => ({
        program: 'control-plane',
        name: `${host} ${name}`,
        logFile: join(dataDir, `${host}-${name}.log`),
        env: {
          LOG_LEVEL: 'info',
          ENVIRONMENT: 'development',
          CHAIN_ID: String(chain.chainId),
          RPC_URL: chain.rpcUrl,
          PAY_TO: PAY_TO.address,
          RELAYER_KEY: RELAYER.privateKey,
          ...NO_SENDING_LIMITS,
          REQUESTS_PER_MINUTE: '100000',
          TOKEN_REQUESTS_PER_MINUTE: '100000',
          HEARTBEAT_MS: '1000',
          ALERT_SLOT_DOWN_MS: '1000',
          PUBLIC_URL: url,
          DATA_DIR: folder,
          ...own,
        },
      }),
      (each) => stops.push(each),
    );
    return { baseUrls, instances: Object.values(programs), stop };
  };
  let service = await startService(place, 'host-1');

  /** A procedure of the operator API, as the commands call it, without a process for each. */
  const ask: Operator['call'] = async (name, input) => {
    const { call, close } = await openOperator({ ...place, url });
    try {
      return await call(name, input);
    } finally {
      await close();
    }
  };
  const racks: Rack[] = await Promise.all(
    RACKS.map(async (name, index) => {
      const { code } = await ask('addNode', { node: name });
      return startRack({ name, firstModem: index * perRack, modems: perRack, dataDir, url, code, keep });
    }),
  );

  const env = (): Record<string, string> => ({
    DATABASE_URL: place.databaseUrl,
    DATA_DIR: place.dataDir,
    CHAIN_ID: String(chain.chainId),
    RPC_URL: chain.rpcUrl,
    REFUND_KEY: PAY_TO.privateKey,
  });
  /** A command of the operator; throws with what it wrote where it fails. */
  const control = async (...args: string[]): Promise<string> => {
    const ran = await runProgram('control-plane', args, env());
    if (ran.status !== 0) throw new Error(`${args.join(' ')}: ${ran.status} ${ran.stderr}`);
    return ran.stdout;
  };
  const isReady = async (): Promise<boolean> => {
    const answers = await Promise.all(
      service.baseUrls.map((each) => fetch(`${each}/health/ready`).catch(() => undefined)),
    );
    return answers.every((answer) => answer?.status === 200);
  };
  const ready = () => until('the service is ready', isReady, READY_TIMEOUT_MS);
  const places = async (): Promise<Place[]> =>
    (
      await Promise.all(racks.map(async (rack) => (await rack.modems()).map((modem) => ({ ...modem, rack }))))
    ).flat();

  return {
    url,
    ask,
    chain,
    control,
    dataDir,
    postgres,
    racks,
    ready,
    places,
    /** The modem that has the card of a number. */
    async placeOf(number: string): Promise<Place> {
      const found = (await places()).find((each) => each.number === number);
      if (found === undefined) throw new Error(`no modem has ${number}`);
      return found;
    },
    /** Ends a program in its own way, or kills it. It is started again. The instances of the service end one after another. */
    async restart(program: Program | 'service', signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
      for (const ended of program === 'service' ? service.instances : [program]) {
        const { pid } = ended;
        process.kill(pid, signal);
        await until('another process', () => ended.pid !== pid, READY_TIMEOUT_MS);
        await ready();
      }
    },
    /** Backs the service up, loses its host, and restores it on another one. */
    async moveHost(): Promise<void> {
      const file = join(dataDir, 'service.backup');
      await service.stop();
      await control('backup', file);
      place = { databaseUrl: await postgres.createDatabase(), dataDir: join(dataDir, 'host-2') };
      mkdirSync(place.dataDir);
      await control('restore', file);
      service = await startService(place, 'host-2');
      await ready();
    },
  };
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;
