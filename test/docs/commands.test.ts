// Our programs take their commands in the documentation, with their options and arguments; the environment variables that it names exist.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { commandsIn, flawOf } from './own-commands.ts';
import { blocksOf, readPages } from './pages.ts';

/** `simrack control link` and `simrack pin key` are words that are signed. */
const INLINE =
  /`((?:sudo |npx --no-install )?(?:control-plane|node-daemon|simrack(?! control | pin )|hardware-sim) [a-z-][^`\n]*)`/g;

const reference = readFileSync(join(PROJECT_FOLDER, 'docs/reference/options.md'), 'utf8');

t.test('commands are recognised', async (t) => {
  t.same(
    commandsIn('npx --no-install simrack send --to "$(simrack number --print number)" --body \'a b\' | cat'),
    [
      ['simrack', 'send', '--to', '$(simrack number --print number)', '--body', 'a b'],
      ['simrack', 'number', '--print', 'number'],
    ],
  );
  t.same(commandsIn('X=1 sudo control-plane node list; claude mcp add simrack url'), [
    ['control-plane', 'node', 'list'],
  ]);
  t.same(commandsIn('TOKEN=$(simrack subscribe)'), [['simrack', 'subscribe']]);
  t.same(commandsIn('simrack() { node control-plane/client/bin.mjs "$@"; }'), []);
  t.same(commandsIn('control-plane backup /backups/simrack-$(date +%F).backup'), [
    ['control-plane', 'backup', '/backups/simrack-$(date +%F).backup'],
  ]);
  t.equal(flawOf(['control-plane', 'slot', 'list', '--json']), undefined);
  t.match(flawOf(['control-plane', 'slot', 'lists']), /unknown command 'lists'/);
  t.match(flawOf(['control-plane', 'slot', 'restart', 'rack-7']), /missing required argument/);
  t.equal(flawOf(['control-plane', 'slot', 'restart', 'rack-7'], false), undefined);
  t.match(flawOf(['control-plane', 'slot', 'restart', 'rack-7', '1-1.3', '1-1.4']), /too many arguments/);
  t.match(flawOf(['control-plane', 'probe', 'summary', '--span', 'month']), /--span/);
  t.match(flawOf(['simrack', 'send', '--too', '+1']), /unknown option '--too'/);
  t.match(
    flawOf(['simrack', 'webhook', 'add', 'https://example.org', '--event', 'sms.reveived']),
    /Did you mean/,
  );
  t.equal(flawOf(['node-daemon', '--data-dir', 'x']), undefined);
  t.match(flawOf(['hardware-sim', '--modems', 'two']), /--modems: must be a whole number/);
});

const pages = readPages().filter(({ path }) => !path.startsWith('docs/reference/'));

t.test(
  'every command in a block of shell, or alone in backquotes, is one that its program takes',
  async (t) => {
    const counts = { block: 0, inline: 0 };
    for (const { path, text } of pages) {
      const blocks = blocksOf(text)
        .filter(({ language }) => language === 'sh' || language === 'ini')
        .flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n'))
        .filter((line) => !/^\s*#/.test(line))
        .flatMap((line) => commandsIn(line.replace(/ # .*$/, '')));
      const inline = [...text.matchAll(INLINE)].flatMap(([, code = '']) =>
        commandsIn(code.replaceAll('…', '')),
      );
      for (const [kind, commands] of Object.entries({ block: blocks, inline }))
        for (const command of commands) {
          counts[kind as keyof typeof counts] += 1;
          const flaw = flawOf(command, kind === 'block');
          if (flaw !== undefined) t.fail(`${path}: ${command.join(' ')}: ${flaw}`);
        }
    }
    t.ok(counts.block > 150 && counts.inline > 50, JSON.stringify(counts));
  },
);

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
