// `control-plane relayer new | show | rotate`: the account that submits transfers and pays their gas.
import * as z from 'zod';
import { programCommand } from '#shared/process/commands.ts';
import { OPTIONS } from '../../config/config.ts';
import { operatorCommand } from './operator-command.ts';

const { paymentsFile, chainId, rpcUrl, rpcTimeoutMs, facilitatorUrl, asset, payTo, priceAtomic } = OPTIONS;
const { relayerKey, relayerKeyFile, relayerFormerKeyFile } = OPTIONS;

const STATUS_OPTIONS = {
  paymentsFile,
  chainId,
  rpcUrl,
  rpcTimeoutMs,
  facilitatorUrl,
  asset,
  payTo,
  priceAtomic,
} as const;

/** Names of files, for a command that prints them. */
const fileNames = z.string().min(1).optional();

export const RELAYER_COMMANDS = [
  programCommand({
    usage: 'relayer new <file>',
    about: 'Make a key for the relayer in a new file that only its owner can read, and print the address.',
    options: {},
    async run(_, [file = '']) {
      const { makeRelayer } = await import('../relayer-key.ts');
      process.stdout.write(`${makeRelayer(file)}\n`);
    },
  }),
  operatorCommand({
    usage: 'relayer show',
    about:
      'Show the address of the relayer and of former ones, the gas of each, and its payments that are in flight or not final.',
    options: { ...STATUS_OPTIONS, relayerKey, relayerKeyFile, relayerFormerKeyFile },
    async run(operator, options) {
      const { shownRelayers } = await import('../relayer-status.ts');
      return shownRelayers(operator, options);
    },
  }),
  operatorCommand({
    usage: 'relayer rotate <file>',
    about:
      'Make a key for the next relayer in a new file. Print the payments of the current one that are in flight or not final, and what to do next.',
    options: {
      ...STATUS_OPTIONS,
      relayerKey,
      relayerKeyFile: { ...relayerKeyFile, about: 'File with the current key', schema: fileNames },
      relayerFormerKeyFile: { ...relayerFormerKeyFile, schema: fileNames },
    },
    async run(operator, options, [file = '']) {
      const { rotateRelayer } = await import('../relayer-rotation.ts');
      return rotateRelayer(operator, file, options);
    },
  }),
];
