// The API in a terminal: one command per operation, JSON on standard output. Next to `npm start` it needs no options.
import { CommanderError } from 'commander';
import { onLines } from '#shared/process/terminal.ts';
import { EXIT, exitCodeOf, UsageError } from './failures.ts';
import { Output, tolerateClosedPipes } from './output.ts';
import { createProgram } from './program.ts';
import type { GlobalOptions } from './session.ts';

const PARENT_CHECK_MS = 500;

// The parser may fail before it reads --json, so its value cannot be used.
const isJson = process.argv.includes('--json');
// Usage errors quote the arguments, so they are not printed with --json.
const program = createProgram(process.env, (text) => void (isJson || process.stderr.write(onLines(text))));

tolerateClosedPipes();
if (process.env['npm_command'] === 'exec') endWithParent();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (isJson && error.exitCode !== 0) new Output({ json: true }).failure(usageOf(error));
  } else {
    new Output(program.opts<GlobalOptions>()).failure(error);
    // Exits at once: an aborted request may still be under way.
    process.exit(exitCodeOf(error));
  }
}

/** npx passes no SIGTERM on: its shell ends, and this program would go on. */
function endWithParent(): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, PARENT_CHECK_MS);
  timer.unref();
}

/** Uses the parser's message if there is one; without a command there is only its help. */
function usageOf({ code, message }: CommanderError): UsageError {
  return new UsageError(code === 'commander.help' ? 'no command' : message.replace(/^error: /, ''));
}
