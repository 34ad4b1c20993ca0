// Commands of a program, such as `control-plane node add <name>` and `node-daemon enroll <url> <code>`.
import type { Command } from 'commander';
import { checkedArguments } from './checked-arguments.ts';
import { addFlags, type OptionsOf, parserOf, type Specs, valuesOf } from './options.ts';
import { errorLine } from './terminal.ts';

export interface ProgramCommand<S extends Specs> {
  /** Words, then arguments: "node add <name>". */
  usage: string;
  about: string;
  options: S;
  /** The message of what it throws is printed, and ends the process with its `exitCode`, or 1. */
  run(options: OptionsOf<S>, args: readonly string[]): Promise<void>;
}

/** A command, whatever its options are. */
export interface AnyCommand {
  usage: string;
  about: string;
  options: Specs;
  build(command: Command): void;
}

export function programCommand<S extends Specs>({
  usage,
  about,
  options,
  run,
}: ProgramCommand<S>): AnyCommand {
  return {
    usage,
    about,
    options,
    build(command) {
      addFlags(command, options);
      command.description(about).allowExcessArguments(false);
      command.action(async (...given: unknown[]) => {
        const args = command.args.slice(0, given.length);
        try {
          await run(valuesOf(command, options), args);
        } catch (error) {
          command.error(errorLine(error).trimEnd(), { exitCode: exitCodeOf(error) });
        }
      });
    },
  };
}

function exitCodeOf(error: unknown): number {
  const hasOne = error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number';
  return hasOne ? (error.exitCode as number) : 1;
}

/** Lines for a program's --help. */
export const helpOf = (commands: readonly AnyCommand[]): string =>
  [
    'Without a command, the program runs until you stop it.',
    '',
    'Commands, each with its own --help:',
    ...commands.map(({ usage, about }) => `  ${usage}: ${about}`),
  ].join('\n');

/** The parser of a program's commands. */
export function commandTree(program: string, commands: readonly AnyCommand[]): Command {
  const root = parserOf(program);
  for (const each of commands) {
    const words = each.usage.split(' ');
    const first = words.findIndex((word) => word.startsWith('<'));
    const names = first < 0 ? words : words.slice(0, first);
    let parent = root;
    for (const name of names) {
      const known = parent.commands.find((child) => child.name() === name);
      parent = known ?? parent.command(name);
    }
    if (first >= 0) parent.arguments(words.slice(first).join(' '));
    each.build(parent);
  }
  return root;
}

/**
 * Runs the command that the command line begins with. Returns false when it is empty or begins with an option: the
 * caller then runs the program. An unknown command ends the process with 1 and prints a similar one.
 */
export async function runCommand(program: string, commands: readonly AnyCommand[]): Promise<boolean> {
  const [, , command] = process.argv;
  if (command === undefined || command.startsWith('-')) return false;
  const root = commandTree(program, commands);
  // Not the commands: the errors of their work would end with this line, too.
  for (const group of [root, ...root.commands.filter((each) => each.commands.length > 0)])
    group.showHelpAfterError('(see --help)');
  await root.parseAsync(checkedArguments(root, process.argv.slice(2)), { from: 'user' });
  return true;
}
