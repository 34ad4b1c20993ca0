// The options of commands that send money back, and of those that ask a chain.
import { integerOption, type OptionsOf, switchOption } from '#shared/process/options.ts';
import { OPTIONS } from '../../config/config.ts';
import { keyFileSchema, keySchema } from '../../config/private-key.ts';
import { transactionHashSchema } from '../procedures/fields.ts';
import { filterOption } from './operator-command.ts';

const { paymentsFile, chainId, rpcUrl, rpcTimeoutMs, safeDepthBlocks } = OPTIONS;

export const CHAIN_OPTIONS = { paymentsFile, chainId, rpcUrl, rpcTimeoutMs, safeDepthBlocks } as const;

export const REFUND_OPTIONS = {
  ...CHAIN_OPTIONS,
  yes: switchOption('Send the money; without this flag the command changes nothing'),
  signAnew: switchOption('Sign another transaction if the stored one can never move the money'),
  unrelated: filterOption(
    'With --sign-anew: hash of a transaction that is not this refund, although it sent the payer the same amount',
    transactionHashSchema,
  ),
  refundKey: {
    env: 'REFUND_KEY',
    about: 'Private key of the PAY_TO account; prefer the file',
    schema: keySchema.optional(),
  },
  refundKeyFile: {
    env: 'REFUND_KEY_FILE',
    about: 'File with this key',
    schema: keyFileSchema.optional(),
  },
  waitMs: {
    env: 'REFUND_WAIT_MS',
    about: 'How long to wait for a block',
    schema: integerOption(0, 600_000, 60_000),
  },
} as const;

/** The options with the one key that was given. Throws if two were. */
export function withKey<O extends Pick<OptionsOf<typeof REFUND_OPTIONS>, 'refundKey' | 'refundKeyFile'>>({
  refundKey,
  refundKeyFile,
  ...options
}: O) {
  if (refundKey !== undefined && refundKeyFile !== undefined)
    throw new Error('give only one of REFUND_KEY_FILE and REFUND_KEY');
  return { ...options, key: refundKeyFile ?? refundKey };
}
