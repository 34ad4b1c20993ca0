// The command line: its options, its environment and its commands.
import { Command } from 'commander';
import { addAccountCommands } from './account-commands.ts';
import { wholeNumber } from './arguments.ts';
import { EXIT_HELP } from './failures.ts';
import { type Environment, type GlobalOptions, Session } from './session.ts';
import { addSmsCommands } from './sms-commands.ts';
import { addVoiceCommands } from './voice-commands.ts';

/** The environment variables. */
export const ENVIRONMENT = {
  SIMRACK_URL: 'Base URL of the service. `--url` takes precedence.',
  SIMRACK_TOKEN: 'Bearer token. `--token` takes precedence. Without either, the stored token is used.',
  WALLET_KEY: 'Private key of the wallet: `0x` and 64 hexadecimal digits.',
  XDG_CONFIG_HOME: 'Folder for tokens and unfinished payments. Default `~/.config`.',
  DATA_DIR: 'Data folder of `npm start`, which holds `dev-stack.json`. Default `data`.',
} as const;

/** `writeErr` prints the parser's usage errors. */
export function createProgram(env: Environment, writeErr?: (text: string) => void): Command {
  const program = new Command('simrack')
    .description('Buy a phone number. Text and call with it.')
    .option('--url <url>', 'Base URL of the service (SIMRACK_URL; default: the service of npm start)')
    .option(
      '--wallet <n>',
      'Use this test wallet of npm start, counted from 0; each has its own token',
      wholeNumber,
    )
    .option('--token <token>', 'Bearer token; prefer SIMRACK_TOKEN, or the file that subscribe writes')
    .option('--token-file <file>', 'File with the token, instead of ~/.config/simrack')
    .option('--json', 'Print each answer and error as one line of JSON, and no progress')
    .option('--print <field>', 'Print only this field of the answer, or of each message')
    .addHelpText('after', `\nThe wallet’s private key comes from WALLET_KEY.\n\n${EXIT_HELP}`)
    .showHelpAfterError('(see --help)')
    .exitOverride();
  // Before the commands are added: each copies the settings of that moment.
  if (writeErr !== undefined) program.configureOutput({ writeErr });
  const session = (): Session => new Session(program.opts<GlobalOptions>(), env);
  for (const add of [addAccountCommands, addSmsCommands, addVoiceCommands]) add(program, session);
  return program;
}
