// `control-plane relayer new | show`: the account that submits transfers and pays their gas.
import { programCommand } from '#shared/process/commands.ts';
import { OPTIONS } from '../../config/config.ts';
import { operatorCommand } from './operator-command.ts';

const { paymentsFile, chainId, rpcUrl, rpcTimeoutMs, facilitatorUrl, asset, payTo, priceAtomic } = OPTIONS;
const { relayerKey, relayerKeyFile } = OPTIONS;

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
    about: 'Show the address of the relayer, its gas balance, and how many transactions wait for a block.',
    options: {
      paymentsFile,
      chainId,
      rpcUrl,
      rpcTimeoutMs,
      facilitatorUrl,
      asset,
      payTo,
      priceAtomic,
      relayerKey,
      relayerKeyFile,
    },
    async run(operator, options) {
      const { shownRelayers } = await import('../relayer-status.ts');
      return shownRelayers(operator, options);
    },
  }),
];
