// Every option and environment variable of every program, from the tables that read them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { EXIT_HELP } from '../../../control-plane/client/commands/failures.ts';
import { createProgram, ENVIRONMENT } from '../../../control-plane/client/commands/program.ts';
import { OPTIONS as SERVICE_OPTIONS } from '../../../control-plane/config/config.ts';
import { commandsFor } from '../../../control-plane/operator/cli/all-commands.ts';
import { OPTIONS as SIMULATOR_OPTIONS } from '../../../hardware-sim/options.ts';
import { COMMANDS as DAEMON_COMMANDS } from '../../../node-daemon/commands.ts';
import { daemonOptions } from '../../../node-daemon/config/options.ts';
import type { AnyCommand } from '../../../shared/process/commands.ts';
import { nameOf, type Specs } from '../../../shared/process/options.ts';
import { OPTIONS as DEV_STACK_OPTIONS } from '../../../test/dev-stack/options.ts';
import { block, code, sentence, table } from '../markdown.ts';
import type { Page } from '../page.ts';
import { clientOptions, clientUsage } from '../source/client-command.ts';
import { PROJECT_FOLDER } from '../source/doc-comments.ts';
import { defaultOf, isRequired, valuesOf } from '../source/option-facts.ts';

const SERVICE_COMMANDS = await commandsFor(undefined);
const CONFIGURATION_FILE = 'node-daemon/config/node-daemon.example.yaml';

export const OPTIONS_PAGE: Page = {
  file: 'options.md',
  title: 'Options and environment variables',
  about:
    'A flag overrides the environment variable of the same row. An empty variable counts as unset. Every program also has `--help` and `--version`. ' +
    'A wrong value stops the start with one line that names the option.',
  body: () =>
    [
      '## npm start',
      'Options of the local stack: chain, control plane, simulated modems and node daemon.',
      optionTable(DEV_STACK_OPTIONS),
      '## control-plane',
      'Options of the service.',
      optionTable(SERVICE_OPTIONS),
      ...commandsOf('control-plane', SERVICE_COMMANDS),
      '## node-daemon',
      'Options of the daemon.',
      optionTable(daemonOptions),
      ...commandsOf('node-daemon', DAEMON_COMMANDS),
      '### The configuration file of node-daemon',
      'Every key is optional. This example has all of them.',
      block('yaml', readFileSync(join(PROJECT_FOLDER, CONFIGURATION_FILE), 'utf8')),
      '## hardware-sim',
      'Options of the simulator.',
      optionTable(SIMULATOR_OPTIONS),
      '## simrack',
      ...client(),
    ].join('\n\n'),
};

function optionTable(specs: Specs): string {
  return table(
    ['Variable', 'Flag', 'Values', 'Default', 'Description'],
    Object.entries(specs).map(([key, spec]) => [
      [spec.env, spec.envAlias].flatMap((name) => (name === undefined ? [] : [code(name)])).join(', '),
      spec.isEnvironmentOnly === true ? '' : code(nameOf(key)),
      valuesOf(spec),
      defaultOf(spec) ?? (isRequired(spec) ? 'required' : ''),
      sentence(withoutValues(spec)),
    ]),
  );
}

/** The values have a column of their own. */
const withoutValues = (spec: Specs[string]): string => {
  const values = valuesOf(spec).replaceAll('`', '');
  return values === '' ? spec.about : spec.about.replace(`: ${values}`, '');
};

/** A section for each command. Options that the program itself has, too, are named and not repeated. */
function commandsOf(program: string, commands: readonly AnyCommand[]): string[] {
  const own: Specs = program === 'control-plane' ? SERVICE_OPTIONS : daemonOptions;
  return commands.flatMap(({ about, options, usage }) => {
    const isShared = ([key, spec]: [string, Specs[string]]): boolean => own[key]?.about === spec.about;
    const all = Object.entries(options);
    const shared = flagsOf(Object.fromEntries(all.filter(isShared)));
    const others = all.filter((entry) => !isShared(entry));
    return [
      `### ${program} ${usage.replaceAll('<', '&lt;')}`,
      sentence(about).replaceAll('<', '&lt;'),
      ...(others.length === 0 ? [] : [optionTable(Object.fromEntries(others))]),
      ...(shared.length === 0 ? [] : [`Also takes ${namedBriefly(shared, flagsOf(own), code(program))}.`]),
    ];
  });
}

const flagsOf = (specs: Specs): string[] => Object.keys(specs).map((key) => code(nameOf(key)));

/** Some options of a program; most of them by those that are left out. */
function namedBriefly(some: readonly string[], all: readonly string[], program: string): string {
  const others = all.filter((each) => !some.includes(each));
  if (others.length >= some.length) return `${some.join(', ')} of ${program}`;
  return `all options of ${program}${others.length === 0 ? '' : `, except ${others.join(', ')}`}`;
}

function client(): string[] {
  const program = createProgram({});
  return [
    'The command line for the API. These options apply to every command.',
    clientOptions(program.options),
    table(
      ['Variable', 'Description'],
      Object.entries(ENVIRONMENT).map(([name, about]) => [code(name), about]),
    ),
    block('text', EXIT_HELP),
    ...program.commands.flatMap((command) => clientCommand(command)),
  ];
}

/** A command, or those below it. */
function clientCommand(command: Command, above: readonly string[] = []): string[] {
  if (command.commands.length > 0)
    return command.commands.flatMap((each) => clientCommand(each, [...above, command.name()]));
  return [
    `### ${clientUsage(command, above).replaceAll('<', '&lt;')}`,
    sentence(command.description()),
    ...(command.options.length === 0 ? [] : [clientOptions(command.options)]),
  ];
}
