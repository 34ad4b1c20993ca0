// Arguments of a command that does not exist. For `nosuch --help`, commander would print the help of the program and exit with 0.
import type { Command } from 'commander';

/** The arguments to parse: without options if their words name no command, so that the parser refuses them and names the nearest one. */
export function checkedArguments(root: Command, args: readonly string[]): readonly string[] {
  const { operands } = root.parseOptions([...args]);
  let parent = root;
  for (const word of operands) {
    if (parent.commands.length === 0) return parent === root ? operands : args;
    const child = parent.commands.find((each) => each.name() === word);
    if (child === undefined) return word === 'help' ? args : operands;
    parent = child;
  }
  return args;
}
