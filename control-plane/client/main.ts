// The API from a terminal: one command a call, JSON on standard output. Beside `npm start` it needs no options.
import { Command, CommanderError } from 'commander';
import { onLines } from '#shared/process/terminal.ts';
import { addAccountCommands } from './commands/account-commands.ts';
import { wholeNumber } from './commands/arguments.ts';
import { EXIT, EXIT_HELP, exitCodeOf, UsageError } from './commands/failures.ts';
import { bearClosedPipes, Output } from './commands/output.ts';
import { type GlobalOptions, Session } from './commands/session.ts';
import { addSmsCommands } from './commands/sms-commands.ts';
import { addVoiceCommands } from './commands/voice-commands.ts';

const program = new Command('simrack')
  .description('A phone number for an agent: buys it, texts and calls with it.')
  .option('--url <url>', 'base URL of the service (SIMRACK_URL, or that of npm start)')
  .option('--wallet <n>', 'which wallet of npm start, from 0; its token is kept apart', wholeNumber)
  .option('--token <token>', 'bearer token; better SIMRACK_TOKEN, or the file that subscribe leaves')
  .option('--token-file <file>', 'where the token is kept, in place of ~/.config/simrack')
  .option('--json', 'one line of JSON, errors too; no progress')
  .option('--print <field>', 'print only this field of the answer, or of each message')
  .addHelpText('after', `\nThe wallet’s private key comes from WALLET_KEY.\n\n${EXIT_HELP}`)
  .showHelpAfterError('(--help says how)')
  .exitOverride();

// The parser fails before it has read all: its own word on --json is not to be had then.
const isJson = process.argv.includes('--json');
program.configureOutput({
  // It quotes what it was given.
  writeErr: (text) => void (isJson || process.stderr.write(onLines(text))),
});

bearClosedPipes();
const session = (): Session => new Session(program.opts<GlobalOptions>(), process.env);
for (const add of [addAccountCommands, addSmsCommands, addVoiceCommands]) add(program, session);

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (isJson && error.exitCode !== 0) new Output({ json: true }).failure(usageOf(error));
  } else {
    new Output(program.opts<GlobalOptions>()).failure(error);
    // Not at leisure: a request that was given up may be under way.
    process.exit(exitCodeOf(error));
  }
}

/** In the words of the parser, where it has some: without a command it has only its help. */
function usageOf({ code, message }: CommanderError): UsageError {
  return new UsageError(code === 'commander.help' ? 'no command' : message.replace(/^error: /, ''));
}
