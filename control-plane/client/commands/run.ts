// A command of `simrack`, from its arguments and environment to its exit code. It writes to the streams of the process.
import { CommanderError } from 'commander';
import { checkedArguments } from '#shared/process/checked-arguments.ts';
import { onLines } from '#shared/process/terminal.ts';
import { EXIT, exitCodeOf, RefusedError, UsageError } from './failures.ts';
import { Output } from './output.ts';
import { createProgram } from './program.ts';
import type { Environment, GlobalOptions } from './session.ts';

interface CommandEnd {
  exitCode: number;
  /** The command has failed: one of its requests may still be under way. */
  isFailure: boolean;
}

/** `args`: what stands after the name of the program. */
export async function runSimrack(args: readonly string[], env: Environment): Promise<CommandEnd> {
  // The parser may fail before it reads --json, so its value cannot be used.
  const isJson = args.includes('--json');
  // Usage errors quote the arguments, so they are not printed with --json.
  const program = createProgram(env, (text) => void (isJson || process.stderr.write(onLines(text))));
  try {
    await program.parseAsync(checkedArguments(program, args), { from: 'user' });
    return { exitCode: EXIT.ok, isFailure: false };
  } catch (error) {
    if (error instanceof RefusedError) return { exitCode: EXIT.refused, isFailure: false };
    if (error instanceof CommanderError) {
      if (isJson && error.exitCode !== 0) new Output({ json: true }).failure(usageOf(error));
      return { exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage, isFailure: false };
    }
    new Output(program.opts<GlobalOptions>()).failure(error);
    return { exitCode: exitCodeOf(error), isFailure: true };
  }
}

/** Uses the parser's message if there is one; without a command there is only its help. */
function usageOf({ code, message }: CommanderError): UsageError {
  return new UsageError(code === 'commander.help' ? 'no command' : message.replace(/^error: /, ''));
}
