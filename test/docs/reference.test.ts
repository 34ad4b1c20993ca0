// docs/reference is as the definitions in the code say, and names what must be in it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { REFUSALS } from '#shared/api/refusals.ts';
import { listFiles, PROJECT_FOLDER } from '../tidy/sources.ts';

const reference = (file: string): string =>
  readFileSync(join(PROJECT_FOLDER, 'docs/reference', file), 'utf8');

t.test('no page of the reference is stale', async (t) => {
  const { status, stderr, stdout } = spawnSync(
    process.execPath,
    ['--import', 'tsx', 'docs/generate/main.ts', '--check'],
    { cwd: PROJECT_FOLDER, encoding: 'utf8' },
  );
  t.equal(stdout, '');
  t.equal(status, 0, stderr);
});

t.test('every error code is there, with its status', async (t) => {
  const text = reference('errors.md');
  for (const [code, { status }] of Object.entries(REFUSALS)) t.match(text, `| ${status} | \`${code}\` |`);
});

t.test('every environment variable that a program reads is there', async (t) => {
  const text = reference('options.md');
  const sources = listFiles('*.ts').filter((path) =>
    /^(control-plane|node-daemon|hardware-sim|shared)\//.test(path),
  );
  for (const path of sources) {
    const source = readFileSync(join(PROJECT_FOLDER, path), 'utf8');
    for (const [, name] of source.matchAll(/\benv(?:Alias)?: '([A-Z_]+)'/g))
      t.ok(text.includes(`\`${name}\``), `${name} of ${path}`);
  }
});

t.test('every page has a heading, and no description is empty where there is a column for it', async (t) => {
  for (const path of listFiles('docs/reference/*.md')) {
    const text = readFileSync(join(PROJECT_FOLDER, path), 'utf8');
    t.match(text, /^# \S/m, path);
    t.notMatch(text, /undefined|\[object /, path);
  }
  for (const line of reference('options.md').split('\n'))
    if (/^\| `(--|[A-Z_]+)/.test(line)) t.notMatch(line, /\|\s*\|$/, line);
});
