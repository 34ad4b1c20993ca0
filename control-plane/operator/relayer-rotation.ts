// Makes the key that replaces the relayer's, and says what the present one has still to do.
import { resolve } from 'node:path';
import { caip2 } from '#shared/api/payment-networks.ts';
import { ownCommand } from '#shared/process/own-command.ts';
import { keyFileSchema } from '../config/private-key.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { relayerAddresses } from '../payments/relayer-wallet.ts';
import type { Operator } from './procedures/all-procedures.ts';
import { makeRelayer } from './relayer-key.ts';
import { relayedNetworks, type StatusOptions, shownAccounts } from './relayer-status.ts';

interface RotationOptions extends StatusOptions {
  readonly relayerKey: string | undefined;
  /** Name of the file with the present key. */
  readonly relayerKeyFile: string | undefined;
  /** Names of the files with former keys, comma-separated. */
  readonly relayerFormerKeyFile: string | undefined;
}

/**
 * Makes a key in `file`, and returns what to do next. Changes no other file and no running service. Throws if the file exists, and
 * `OperatorRefusal` if the present key is in no file. Rejects, and makes nothing, if an RPC or the ledger cannot be read.
 */
export async function rotateRelayer(
  operator: Operator,
  file: string,
  { relayerKey, relayerKeyFile, relayerFormerKeyFile, ...options }: RotationOptions,
): Promise<string> {
  if (relayerKeyFile === undefined || relayerKey !== undefined)
    throw new OperatorRefusal(
      relayerKey === undefined
        ? `There is no key to rotate. Set RELAYER_KEY_FILE, as the service has it, or make the first key with "${ownCommand('control-plane')} relayer new".`
        : 'The present key is in RELAYER_KEY. Write it to a file and set RELAYER_KEY_FILE, so that it can stay as a former key.',
    );
  const present = keyFileSchema.safeParse(relayerKeyFile);
  if (!present.success) throw new Error(`RELAYER_KEY_FILE: ${present.error.issues[0]?.message}`);
  const keys = { present: present.data, former: [] };
  const [address] = relayerAddresses(keys);
  const chains = relayedNetworks(options, keys).map(({ chainId }) => caip2(chainId));
  const before = await shownAccounts(operator, keys, options);
  const made = makeRelayer(file);
  const former = [relayerKeyFile, ...(relayerFormerKeyFile?.split(',') ?? [])].map((path) => resolve(path));
  return [
    `${made} is the new relayer; its key is in ${resolve(file)}`,
    '',
    'The relayer until now:',
    before,
    '',
    'Next:',
    `1. Send ether to ${made} on ${chains.join(', ')}.`,
    `2. Let the service read ${resolve(file)}, as it reads ${resolve(relayerKeyFile)}.`,
    '3. Set these options and restart the service. Restart several instances one after the other.',
    `     RELAYER_KEY_FILE=${resolve(file)}`,
    `     RELAYER_FORMER_KEY_FILE=${former.join(',')}`,
    `4. Wait until "${ownCommand('control-plane')} relayer show" has nothing waiting and no payments for ${address}.`,
    '   Then remove RELAYER_FORMER_KEY_FILE, restart the service, and send the remaining ether to the new relayer.',
  ].join('\n');
}
