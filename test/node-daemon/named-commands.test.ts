// The commands that alerts, advice, scripts, manual page, README and docs for operators name: units and tools that exist.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { COMMANDS } from '#node-daemon/commands.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';

const FOLDERS = ['node-daemon', join('docs', 'operators')];
/** Programs that the docs ask to switch off, and the unit of a simulated rack; and systemd's own. */
const OTHERS = new Set(['ModemManager', 'gammu-smsd', 'smstools', 'simrack-rack', '--system']);
const UNIT = /^simrack-node-daemon(\.service)?$/;
const TOOLS = new Set(COMMANDS.map(({ usage }) => usage.split(' ')[0]));

const texts = FOLDERS.flatMap((folder) =>
  readdirSync(join(PROJECT_FOLDER, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|md|yaml|8|sh|service|rules)$|debian\/\w+$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(PROJECT_FOLDER, folder, path), 'utf8') })),
);

t.test('systemctl and journalctl get the unit by its name', async (t) => {
  let reported = 0;
  for (const { path, text } of texts) {
    const commands = text.matchAll(
      /systemctl (?:(?:start|stop|restart|status|edit|is-active|disable|kill)(?: --[\w=-]+)*) ([\w.@-]+)|journalctl -u ([\w.@-]+)/g,
    );
    for (const [whole, unit, logged] of commands) {
      const name = (unit || logged || '').replace(/\.$/, '');
      reported += 1;
      t.ok(UNIT.test(name) || OTHERS.has(name), `${path}: ${whole}`);
    }
  }
  t.ok(reported >= 10, `${reported}`);
});

t.test('every command of node-daemon that is named is one', async (t) => {
  let reported = 0;
  for (const { path, text } of texts) {
    // From prose, only text that is marked as something to type.
    for (const [whole, name] of text.matchAll(
      /(?:npx --no-install|sudo|# |["'`])\s?node-daemon ([a-z-]+)(?= <|\b.*["'`]|$)/gm,
    )) {
      reported += 1;
      t.ok(TOOLS.has(name), `${path}: ${whole}`);
    }
  }
  t.ok(reported >= 10, `${reported}`);
});
