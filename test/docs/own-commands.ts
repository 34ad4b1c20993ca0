// Commands of our programs in lines of shell, and whether their own parsers take them.
import { type Command, CommanderError } from 'commander';
import { createProgram } from '#control-plane/client/commands/program.ts';
import { OPTIONS as SERVICE_OPTIONS } from '#control-plane/config/config.ts';
import { commandsFor } from '#control-plane/operator/cli/all-commands.ts';
import { OPTIONS as SIMULATOR_OPTIONS } from '#hardware-sim/options.ts';
import { COMMANDS } from '#node-daemon/commands.ts';
import { daemonOptions } from '#node-daemon/config/options.ts';
import { checkedArguments } from '#shared/process/checked-arguments.ts';
import { type AnyCommand, commandTree } from '#shared/process/commands.ts';
import { addFlags, nameOf, parserOf, type Specs } from '#shared/process/options.ts';
import { VERSION } from '#shared/process/version.ts';

interface Program {
  options: Specs;
  commands: readonly AnyCommand[];
}

const PROGRAMS: Record<string, Program> = {
  'control-plane': { options: SERVICE_OPTIONS, commands: await commandsFor(undefined) },
  'node-daemon': { options: daemonOptions, commands: COMMANDS },
  'hardware-sim': { options: SIMULATOR_OPTIONS, commands: [] },
};

const PREFIX = [
  String.raw`[A-Z_]+=(?:"[^"]*"|'[^']*'|[^\s"';]*) +`,
  'sudo +',
  'npx --no-install +',
  'npm run +',
  'exec +',
].join('|');

const COMMAND = new RegExp(
  // At the start, or after what begins a command of a shell; variables may be set before it.
  `(?:^|[;|&(]|\\$\\()\\s*(?:${PREFIX})*(simrack|${Object.keys(PROGRAMS).join('|')})` +
    `((?: +(?:'[^']*'|"[^"]*"|(?:\\$\\([^)]*\\)|[^\\s|;&)"'#>])+))*)(?![\\w(-])`,
  'g',
);

/** Commands of a line of shell, also those within their words. Each is the words after the name of a program, up to what ends them. */
export const commandsIn = (line: string): string[][] =>
  [...line.matchAll(COMMAND)].flatMap(([, program = '', rest = '']) => {
    const words = (rest.match(/'[^']*'|"[^"]*"|(?:\$\([^)]*\)|\S)+/g) ?? []).filter((word) => word !== '--');
    const inner = words.flatMap((word) => [...word.matchAll(/\$\(([^)]*)\)/g)].map(([, code = '']) => code));
    return [
      [program, ...words.map((word) => word.replace(/^(['"])(.*)\1$/, '$2'))],
      ...inner.flatMap(commandsIn),
    ];
  });

/** Stands for a value that the reader has. */
const isPlaceholder = (value: unknown): boolean => /[…$<]/.test(String(value));
/** The reader has the files, too. */
const MISSING_FILE = /the file does not exist/;

class FlawError extends Error {}

function checkValues(parsed: Command, options: Specs): void {
  for (const [key, value] of Object.entries(parsed.opts<Record<string, unknown>>())) {
    const problem = isPlaceholder(value) ? undefined : options[key]?.schema.safeParse(value).error;
    const message = problem?.issues[0]?.message ?? '';
    if (problem !== undefined && !MISSING_FILE.test(message))
      throw new FlawError(`${nameOf(key)}: ${message}`);
  }
}

/** A parser that does nothing. */
function parserFor(program: string, args: readonly string[]): Command {
  if (program === 'simrack') return createProgram({});
  const { options, commands } = PROGRAMS[program] ?? { options: {}, commands: [] };
  const [first = '-'] = args;
  // To build the parsers of all is most of the work.
  const similar = commands.filter(({ usage }) => usage.split(' ')[0] === first);
  if (commands.length > 0 && !first.startsWith('-'))
    return commandTree(
      program,
      (similar.length > 0 ? similar : commands).map((each) => ({
        ...each,
        build(command) {
          each.build(command);
          command.action(() => checkValues(command, each.options));
        },
      })),
    );
  const alone = parserOf(program).allowExcessArguments(false).version(VERSION, '--version');
  addFlags(alone, options);
  return alone.action(() => checkValues(alone, options));
}

function silence(command: Command, isIdle: boolean): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  if (isIdle && command.commands.length === 0) command.action(() => undefined);
  for (const each of command.commands) silence(each, isIdle);
}

/** The words that the parser of the program says of it, if any. `isWhole`: it has all arguments that it needs. */
export function flawOf([program = '', ...args]: readonly string[], isWhole = true): string | undefined {
  const parser = parserFor(program, args);
  silence(parser, program === 'simrack');
  try {
    parser.parse(checkedArguments(parser, args), { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof FlawError) return error.message;
    if (!(error instanceof CommanderError)) throw error;
    const isMissing = /^commander\.(?:missing|optionMissing|help$)/.test(error.code);
    return error.exitCode === 0 || (isMissing && !isWhole) ? undefined : error.message;
  }
}
