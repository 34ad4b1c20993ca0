// Commands of ours in the documentation exist, with their options; so do the environment variables that it names.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { blocksOf, readPages } from './pages.ts';

const PROGRAMS = ['control-plane', 'simrack', 'node-daemon', 'hardware-sim'];
const reference = readFileSync(join(PROJECT_FOLDER, 'docs/reference/options.md'), 'utf8');

/** A program or one of its commands, such as "slot list", with its options. Generated from the code, and tested to be new. */
interface Known {
  words: string[];
  options: Set<string>;
}

const optionsIn = (section: string): string[] =>
  [...section.matchAll(/`(--[a-z][a-z-]*)/g)].map(([, name = '']) => name);

const known: Known[] = reference.split(/^(?=#{2,3} )/m).flatMap((section) => {
  const [, heading = ''] = /^#{2,3} (.+)$/m.exec(section) ?? [];
  const plain = heading.replaceAll('&lt;', '<').replaceAll('\\', '').replaceAll('`', '');
  const words = plain.split(' ');
  if (!PROGRAMS.includes(String(words[0]))) return [];
  const names = words.filter((word) => !/^[<[]/.test(word));
  return [{ words: names, options: new Set(optionsIn(section)) }];
});

const programOptions = (program: string): Set<string> =>
  known.find(({ words }) => words.length === 1 && words[0] === program)?.options ?? new Set();

const COMMAND = new RegExp(
  // At the start, or after what begins a command of a shell; variables may be set before it.
  `(?:^|[;|&(]|"\\$\\()\\s*(?:[A-Z_]+=\\S+ +)*(?:npx --no-install |npm run )?(${PROGRAMS.join('|')})` +
    `((?: +(?:'[^']*'|"[^"]*"|[^\\s|;&)"'#>]+))*)(?![\\w-])`,
  'g',
);

/** Commands of a line of shell: words after the name of a program, up to what ends them. */
const commandsIn = (line: string): string[][] =>
  [...line.matchAll(COMMAND)].map(([, program = '', rest = '']) => [
    program,
    ...(rest.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).filter((word) => word !== '--'),
  ]);

/** The flaw of a command, if any. */
function flawOf(command: readonly string[]): string | undefined {
  const [program = '', ...rest] = command;
  const words = rest.filter((word) => !word.startsWith('-'));
  const first = words[0];
  const fits = known
    .filter(
      ({ words: [of, ...names] }) => of === program && names.every((name, index) => name === words[index]),
    )
    .sort((one, other) => other.words.length - one.words.length)[0];
  if (fits === undefined) return 'no such program';
  const isNamed = fits.words.length > 1;
  const hasCommands = known.some(({ words: [of, ...names] }) => of === program && names.length > 0);
  if (
    !isNamed &&
    hasCommands &&
    first !== undefined &&
    /^[a-z][a-z-]+$/.test(first) &&
    !rest[0]?.startsWith('-')
  )
    return `no command ${first}`;
  const allowed = new Set([...fits.options, ...programOptions(program), '--help', '--version']);
  const unknown = rest.find((word) => /^--[a-z]/.test(word) && !allowed.has(String(word.split('=')[0])));
  return unknown === undefined ? undefined : `no option ${unknown}`;
}

t.test('commands are recognised', async (t) => {
  t.same(commandsIn('npx --no-install simrack send --to "+1" --body \'a b\' | cat'), [
    ['simrack', 'send', '--to', '"+1"', '--body', "'a b'"],
  ]);
  t.same(commandsIn('X=1 control-plane node list; claude mcp add simrack url'), [
    ['control-plane', 'node', 'list'],
  ]);
  t.equal(flawOf(['control-plane', 'slot', 'list', '--json']), undefined);
  t.equal(flawOf(['control-plane', 'slot', 'lists']), 'no command slot');
  t.equal(flawOf(['simrack', 'send', '--too', '+1']), 'no option --too');
  t.equal(flawOf(['node-daemon', '--data-dir', 'x']), undefined);
});

const pages = readPages().filter(({ path }) => !path.startsWith('docs/reference/'));

t.test('every command in a block of shell, or alone in backquotes, exists', async (t) => {
  let commands = 0;
  for (const { path, text } of pages) {
    const blocks = blocksOf(text)
      .filter(({ language }) => language === 'sh')
      .flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n'));
    const inline = [
      ...text.matchAll(/`((?:npx --no-install )?(?:control-plane|node-daemon) [a-z-][^`\n]*)`/g),
    ].map(([, code = '']) => code);
    for (const line of [...blocks.filter((each) => !/^\s*#/.test(each)), ...inline])
      for (const command of commandsIn(line.replace(/ # .*$/, ''))) {
        commands += 1;
        const flaw = flawOf(command);
        if (flaw !== undefined) t.fail(`${path}: ${command.join(' ')}: ${flaw}`);
      }
  }
  t.ok(commands > 100, `${commands} commands`);
});

t.test('environment variables of the pages for agents and for the service are options', async (t) => {
  const names = new Set(
    [...reference.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)].map(([, name]) => name),
  );
  const ofBots = ['CALL_ID', 'FROM', 'TO', 'DIRECTION'].map((name) => `SIMRACK_${name}`);
  const examples = ['BACKUP_PASSPHRASE', 'X_PAYMENT', ...ofBots];
  for (const { path, text } of pages.filter(({ path }) => /^docs\/(agents|service)\//.test(path))) {
    const named = [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)].map(([, name]) =>
      String(name),
    );
    for (const name of named) if (!names.has(name) && !examples.includes(name)) t.fail(`${path}: ${name}`);
  }
  const file = readFileSync(join(PROJECT_FOLDER, 'docs/service/control-plane.env'), 'utf8');
  for (const [, name = ''] of file.matchAll(/^([A-Z_]+)=/gm)) t.match(reference, `\`${name}\``, name);
});
