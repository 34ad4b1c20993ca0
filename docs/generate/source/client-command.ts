// The commands of `simrack`, as their parser knows them.
import type { Argument, Command, Option } from 'commander';
import { code, codes, sentence, table } from '../markdown.ts';

export function clientOptions(options: readonly Option[]): string {
  return table(
    ['Option', 'Values', 'Default', 'Description'],
    options.map((option) => [
      code(option.flags),
      option.argChoices === undefined ? '' : codes(option.argChoices),
      defaultOf(option),
      sentence(option.mandatory ? `${option.description}. Required` : option.description),
    ]),
  );
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  const shown: unknown = defaultValueDescription ?? defaultValue;
  return shown === undefined ? '' : code(String(shown));
}

/** `above`: the commands that it is below. */
export const clientUsage = (command: Command, above: readonly string[]): string =>
  ['simrack', ...above, command.name(), ...command.registeredArguments.map(written)].join(' ');

const written = (argument: Argument): string => {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
};
