// docs/service/install.md: it has the example of the options to the letter, every line is an option, and the user is the package's.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { OPTIONS } from '#control-plane/config/config.ts';
import { IMAGE } from '#control-plane/package/debian-package.ts';
import { listFiles, PROJECT_FOLDER } from '../tidy/sources.ts';

const read = (name: string): string => readFileSync(join(PROJECT_FOLDER, name), 'utf8');
const example = read('docs/service/control-plane.env');

t.test('the pages name the user of the package', async (t) => {
  const { name } = IMAGE.user;
  for (const path of listFiles('docs/service/*.md'))
    t.notMatch(read(path), /-o simrack\b(?!-service)|`simrack`/, `${path}: the service runs as ${name}`);
  t.ok(read('docs/service/refunds.md').includes(`install -o ${name} `));
});

t.test('the page shows the file', async (t) => {
  t.ok(read('docs/service/install.md').includes(`\n${example}\`\`\`\n`));
});

t.test(
  'each line is an option, and those that the service needs are in the configuration of the package',
  async (t) => {
    const known = new Set<string>(
      Object.values(OPTIONS).flatMap((option) => ('env' in option ? [option.env] : [])),
    );
    const names = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
    t.same(
      names.filter((name) => !known.has(name)),
      [],
    );
    const packaged = read('control-plane/package/control-plane.env');
    for (const name of names.filter((each) => each !== 'SECURITY_CONTACT'))
      t.match(packaged, new RegExp(`^#?${name}=`, 'm'), name);
  },
);
