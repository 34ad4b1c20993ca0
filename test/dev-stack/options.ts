// What `npm start` can be told.
import * as z from 'zod';
import { type ChainId, NETWORKS } from '#shared/api/payment-networks.ts';
import { integerOption, type OptionsOf, readOptions } from '#shared/process/options.ts';

const OPTIONS = {
  port: { env: 'PORT', about: 'port of the API; 0 is a free one', schema: integerOption(0, 65_535, 8080) },
  rpcPort: {
    env: 'RPC_PORT',
    about: 'port of the local chain; 0 is a free one',
    schema: integerOption(0, 65_535, 0),
  },
  simulatorPort: {
    env: 'SIMULATOR_PORT',
    about: 'port of the simulator’s interface; 0 is a free one',
    schema: integerOption(0, 65_535, 0),
  },
  modems: { env: 'MODEMS', about: 'modems in the rack', schema: integerOption(1, 64, 4) },
  chainId: {
    env: 'CHAIN_ID',
    about: 'chain to imitate: 84532 (Base Sepolia) or 8453 (Base)',
    schema: z
      .enum(Object.keys(NETWORKS) as [`${ChainId}`], {
        error: `must be ${Object.keys(NETWORKS).join(' or ')}`,
      })
      .transform((text) => Number(text) as ChainId)
      .default(84532),
  },
  dataDir: {
    env: 'DATA_DIR',
    about: 'folder for everything that is kept',
    schema: z.string().min(1).default('data'),
  },
} as const;

export type DevStackOptions = OptionsOf<typeof OPTIONS>;

export const readDevStackOptions = (): DevStackOptions =>
  readOptions('npm start', 'The whole of Simrack on this machine, with nothing but loopback.', OPTIONS);
