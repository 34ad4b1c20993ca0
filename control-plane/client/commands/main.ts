// The API from a terminal: one command a call, JSON on standard output. Beside `npm start` it needs no options.
import { CommanderError } from 'commander';
import { onLines } from '#shared/process/terminal.ts';
import { EXIT, exitCodeOf, UsageError } from './failures.ts';
import { bearClosedPipes, Output } from './output.ts';
import { createProgram } from './program.ts';
import type { GlobalOptions } from './session.ts';

// The parser fails before it has read all: its own word on --json is not to be had then.
const isJson = process.argv.includes('--json');
// It quotes what it was given.
const program = createProgram(process.env, (text) => void (isJson || process.stderr.write(onLines(text))));

bearClosedPipes();

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
