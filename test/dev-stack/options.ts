// The options of `npm start`.
import * as z from 'zod';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';
import { integerOption, type OptionsOf, optionalInteger, readOptions } from '#shared/process/options.ts';

export const OPTIONS = {
  port: { env: 'PORT', about: 'Port of the API; 0: a free port', schema: integerOption(0, 65_535, 8080) },
  rpcPort: {
    env: 'RPC_PORT',
    about: 'Port of the local chain; 0: a free port',
    schema: integerOption(0, 65_535, 0),
  },
  simulatorPort: {
    env: 'SIMULATOR_PORT',
    about: 'Port of the simulator’s HTTP interface; 0: a free port',
    schema: integerOption(0, 65_535, 0),
  },
  consolePort: {
    env: 'CONSOLE_PORT',
    about: 'Port of the operator console, such as 9470; unset: no console',
    schema: optionalInteger(1, 65_535).optional(),
  },
  metricsPort: {
    env: 'METRICS_PORT',
    about: 'Port of the service’s metrics, such as 9465; unset: no metrics',
    schema: optionalInteger(1, 65_535).optional(),
  },
  modems: { env: 'MODEMS', about: 'Number of simulated modems', schema: integerOption(1, 64, 4) },
  controlPlanes: {
    env: 'CONTROL_PLANES',
    about: 'Instances of the service; two or more need nats-server, and run on Postgres',
    schema: integerOption(1, 9, 1),
  },
  chainId: {
    env: 'CHAIN_ID',
    about: 'Chain to simulate: 84532 (Base Sepolia) or 8453 (Base)',
    schema: z
      .enum(Object.keys(NETWORKS) as [`${ChainId}`], {
        error: `must be ${Object.keys(NETWORKS).join(' or ')}`,
      })
      .transform((text) => Number(text) as ChainId)
      .default(84532),
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    about: 'Postgres to use; unset: PGlite in the data folder, or for several instances a Postgres beside it',
    schema: z.string().min(1).optional(),
  },
  dataDir: {
    env: 'DATA_DIR',
    about: 'Folder for all data',
    schema: z.string().min(1).default('data'),
  },
} as const;

export type DevStackOptions = OptionsOf<typeof OPTIONS>;

export const readDevStackOptions = (): DevStackOptions =>
  readOptions('npm start', 'Run all of Simrack on this machine, on loopback only.', OPTIONS);
