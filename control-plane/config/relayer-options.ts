// The options of the relayer: its key, those of former relayers, and when to warn of its gas.
import { integerOption, type OptionsOf } from '#shared/process/options.ts';
import type { RelayerKeys } from '../payments/relayer-wallet.ts';
import { keyFileSchema, keyFilesSchema, keySchema } from './private-key.ts';

export const RELAYER_OPTIONS = {
  relayerKey: {
    env: 'RELAYER_KEY',
    about: 'Private key of the relayer, which submits transfers and pays their gas; prefer the file',
    schema: keySchema.optional(),
  },
  relayerKeyFile: {
    env: 'RELAYER_KEY_FILE',
    about: 'File with this key',
    schema: keyFileSchema.optional(),
  },
  relayerFormerKeyFile: {
    env: 'RELAYER_FORMER_KEY_FILE',
    about:
      'Files with the keys of former relayers, comma-separated; used to finish the transactions that those relayers sent',
    schema: keyFilesSchema.optional(),
  },
  relayerTransfersMin: {
    env: 'RELAYER_TRANSFERS_MIN',
    about: 'Warn when the relayer has gas for fewer transfers than this',
    schema: integerOption(0, 1_000_000, 100),
  },
} as const;

/**
 * The relayer's keys; undefined if there are none. Throws if both options give the present one, if only a former one is given, and if one
 * key is both.
 */
export function relayerKeysOf(
  config: Omit<OptionsOf<typeof RELAYER_OPTIONS>, 'relayerTransfersMin'>,
): RelayerKeys | undefined {
  if (config.relayerKeyFile !== undefined && config.relayerKey !== undefined) {
    throw new Error('set only one of RELAYER_KEY_FILE and RELAYER_KEY');
  }
  const present = config.relayerKeyFile ?? config.relayerKey;
  const former = [...new Set(config.relayerFormerKeyFile)];
  if (present === undefined) {
    if (former.length === 0) return undefined;
    throw new Error('RELAYER_FORMER_KEY_FILE needs the present key: set RELAYER_KEY_FILE');
  }
  // An operator who believes that the key was rotated must learn that it was not.
  if (former.some((key) => key.toLowerCase() === present.toLowerCase()))
    throw new Error(
      'RELAYER_FORMER_KEY_FILE has the present key: set RELAYER_KEY_FILE to the file with the new key',
    );
  return { present, former };
}
