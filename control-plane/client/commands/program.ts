// The command line: its options, its environment and its commands.
import { Command } from 'commander';
import { VERSION } from '#shared/process/version.ts';
import { addAccountCommands } from './account-commands.ts';
import { wholeNumber } from './arguments.ts';
import { addBridgeCommand } from './bridge-command.ts';
import { EXIT_HELP } from './failures.ts';
import { addReceiptCommands } from './receipt-commands.ts';
import { CommandSession, type Environment, type GlobalOptions } from './session.ts';
import { addSmsCommands } from './sms-commands.ts';
import { addVoiceCommands } from './voice-commands.ts';
import { addWebhookCommands } from './webhook-commands.ts';

/** The environment variables. */
export const ENVIRONMENT = {
  SIMRACK_URL: 'Base URL of the service. `--url` takes precedence.',
  SIMRACK_DOMAIN: 'Domain that the wallet signs in to, if it is not the host of the URL.',
  SIMRACK_TOKEN: 'Bearer token. `--token` takes precedence. Without either, the stored token is used.',
  WALLET_KEY: 'Private key of the wallet: `0x` and 64 hexadecimal digits.',
  TWILIO_AUTH_TOKEN:
    'Auth token with which `bridge --twiml` signs its requests; without it they are not signed. With `bridge --api`, also the password of the API; without it a new one is printed.',
  TWILIO_ACCOUNT_SID:
    'Account and user name of `bridge --api`: `AC` and 32 hexadecimal digits. By default one that is always the same for a number.',
  XDG_CONFIG_HOME: 'Folder for tokens and unfinished payments. Default `~/.config`.',
  DATA_DIR: 'Data folder of `npm start`, which holds `dev-stack.json`. Default `data`.',
} as const;

/** `writeErr` prints the parser's usage errors. */
export function createProgram(env: Environment, writeErr?: (text: string) => void): Command {
  const program = new Command('simrack')
    .description('Buy a phone number. Text and call with it.')
    .version(VERSION, '--version', 'Print the version')
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
  const session = (): CommandSession => new CommandSession(program.opts<GlobalOptions>(), env);
  for (const add of [
    addAccountCommands,
    addSmsCommands,
    addVoiceCommands,
    addReceiptCommands,
    addWebhookCommands,
  ])
    add(program, session);
  addBridgeCommand(program, session, env);
  return program;
}
