// Flags and environment variables of our programs: one table gives reading, checking and --help.
import { Command, Help, Option } from 'commander';
import * as z from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../log.ts';
import { checkedArguments } from './checked-arguments.ts';
import { onLines } from './terminal.ts';
import { VERSION } from './version.ts';

export interface OptionSpec {
  /** Name of the environment variable, where it may come from there; a flag of the same name wins. */
  env?: string;
  /** An older name, used if the first is not set. */
  envAlias?: string;
  /** Shown by --help. */
  about: string;
  schema: z.ZodType;
  /** A flag without a value; its schema is of a boolean. */
  isSwitch?: true;
  /** A flag that may stand alone; its value is then `true`. */
  isValueOptional?: true;
  /** A secret, which has no flag: others on the host see the arguments of a program. */
  isEnvironmentOnly?: true;
  /** Heading above it in --help. */
  group?: string;
}

export type Specs = Record<string, OptionSpec>;
export type OptionsOf<S extends Specs> = { readonly [K in keyof S]: z.output<S[K]['schema']> };

/**
 * Reads a program's options from the command line and the environment. A bad value prints one line that names the option, and ends
 * the process with 1. `--help` lists the options, `--version` prints the version; both end it with 0. Every value
 * arrives as text, and the schemas coerce it. An empty variable counts as unset.
 */
export function readOptions<S extends Specs>(program: string, about: string, specs: S): OptionsOf<S> {
  const command = parserOf(program).description(about).allowExcessArguments(false);
  command.version(VERSION, '--version', 'print the version');
  addFlags(command, specs);
  command.parse(checkedArguments(command, process.argv.slice(2)), { from: 'user' });
  return valuesOf(command, specs);
}

/** Errors of the library quote the arguments, which may contain control characters. */
export const parserOf = (program: string): Command =>
  new Command(program)
    .configureOutput({ writeErr: (text) => process.stderr.write(onLines(text)) })
    .configureHelp({ boxWrap: wrapped });

const HANGING_INDENT = 4;

/** Wraps each line. The rest of a line that is indented, such as a command, is indented further. */
function wrapped(this: Help, text: string, width: number): string {
  const wrap = (line: string, columns: number): string => Help.prototype.boxWrap.call(this, line, columns);
  return text
    .split('\n')
    .map((line) => {
      const indent = line.length - line.trimStart().length;
      if (indent === 0) return wrap(line, width);
      const hanging = ' '.repeat(indent + HANGING_INDENT);
      const [first = '', ...others] = wrap(line.trimStart(), width - hanging.length).split('\n');
      return [' '.repeat(indent) + first, ...others.map((other) => hanging + other)].join('\n');
    })
    .join('\n');
}

/** Gives a command the flags of a table of options. */
export function addFlags(command: Command, specs: Specs): void {
  for (const [key, spec] of Object.entries(specs))
    if (spec.isEnvironmentOnly !== true) command.addOption(flagOf(key, spec));
}

/** The options of a command that was parsed: flags first, then the environment. Ends the process for a bad one. */
export function valuesOf<S extends Specs>(command: Command, specs: S): OptionsOf<S> {
  const { env } = process;
  const flags = command.opts<Record<string, unknown>>();
  const values: Record<string, unknown> = {};
  for (const [key, spec] of Object.entries(specs)) {
    const isFlag = key in flags;
    const variable = [spec.env, spec.envAlias].find((name) => name !== undefined && env[name]);
    const written = isFlag ? flags[key] : variable && env[variable];
    const parsed = spec.schema.safeParse(written);
    // The value is not shown: it may be a key that was mistyped.
    const name = isFlag ? nameOf(key) : (variable ?? spec.env ?? nameOf(key));
    if (!parsed.success) command.error(`error: ${name}: ${firstIssue(parsed.error)}`);
    values[key] = parsed.data;
  }
  return Object.freeze(values) as OptionsOf<S>;
}

/** The flag of an option: `--data-dir` of `dataDir`. */
export const nameOf = (key: string): string =>
  `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function flagOf(key: string, spec: OptionSpec): Option {
  const option = ungrouped(key, spec);
  return spec.group === undefined ? option : option.helpGroup(spec.group);
}

function ungrouped(key: string, spec: OptionSpec): Option {
  if (spec.isSwitch === true) return new Option(nameOf(key), spec.about);
  const fallback = spec.schema.safeParse(undefined);
  const isDefault = fallback.success && fallback.data !== undefined;
  const notes = [
    ...(spec.env === undefined ? [] : [spec.env]),
    ...(isDefault ? [`default ${String(fallback.data)}`] : []),
  ];
  const about = notes.length === 0 ? spec.about : `${spec.about} (${notes.join(', ')})`;
  return new Option(`${nameOf(key)} ${spec.isValueOptional === true ? '[value]' : '<value>'}`, about);
}

function firstIssue(error: z.ZodError): string {
  return error.issues[0]?.message ?? 'invalid value';
}

/** An option that is a whole number from `min` to `max`. */
export const integerOption = (min: number, max: number, fallback: number) =>
  optionalInteger(min, max).default(fallback);

/** As `integerOption`, without a default. */
export function optionalInteger(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .meta({ minimum: min, maximum: max });
}

/** A value that is true or false, also written as on or off. */
export const booleanOption = z.stringbool({ error: 'must be true or false' }).default(false);

/** A flag that is given or not. */
export const switchOption = (about: string) => ({
  about,
  schema: z.boolean().default(false),
  isSwitch: true as const,
});

/** How a program writes its log. */
export const LOG_FORMAT_OPTION = {
  env: 'LOG_FORMAT',
  about: 'Log format: json, text, or auto: text on a terminal and in a journal, else JSON',
  schema: z.enum(LOG_FORMATS, { error: `must be one of ${LOG_FORMATS.join(', ')}` }).default('auto'),
};

/** How much a program logs: every program has it. */
export const LOG_LEVEL_OPTION = {
  env: 'LOG_LEVEL',
  about: `Log level: ${LOG_LEVELS.join(', ')}`,
  schema: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
};
