// `npm run docs:reference`: writes docs/reference. `--check`: names the pages that are not as the code says, and ends with 1.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './page.ts';
import { PAGES } from './pages/all-pages.ts';
import { PROJECT_FOLDER } from './source/doc-comments.ts';

const FOLDER = join(PROJECT_FOLDER, 'docs/reference');

mkdirSync(FOLDER, { recursive: true });
const texts = new Map<string, string>();
for (const page of PAGES) texts.set(page.file, await textOf(page));
const written = new Map(readdirSync(FOLDER).map((file) => [file, readFileSync(join(FOLDER, file), 'utf8')]));

const stale = [...new Set([...texts.keys(), ...written.keys()])].filter(
  (file) => texts.get(file) !== written.get(file),
);
if (process.argv.includes('--check')) {
  for (const file of stale) process.stdout.write(`docs/reference/${file} is stale: npm run docs:reference\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const file of stale) {
    const text = texts.get(file);
    if (text === undefined) rmSync(join(FOLDER, file));
    else writeFileSync(join(FOLDER, file), text);
    process.stdout.write(`docs/reference/${file}\n`);
  }
}
// The imported modules may keep timers and threads running.
process.exit();
