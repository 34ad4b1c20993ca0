// `npm run docs:reference`: writes docs/reference, the matrix of bots and the dashboards. `--check`: names the files that are not as the code says, and ends with 1.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOT_MATRIX_PAGE } from './bot-matrix.ts';
import { DASHBOARDS } from './dashboards/all-dashboards.ts';
import { textOf } from './page.ts';
import { PAGES } from './pages/all-pages.ts';
import { PROJECT_FOLDER } from './source/doc-comments.ts';

const DOCS = join(PROJECT_FOLDER, 'docs');
/** All of their files are made here. */
const FOLDERS = ['reference', 'service/grafana'];

const texts = new Map<string, string>();
for (const page of PAGES) texts.set(`reference/${page.file}`, await textOf(page));
for (const [file, dashboard] of Object.entries(DASHBOARDS))
  texts.set(`service/grafana/${file}`, `${JSON.stringify(dashboard, null, 2)}\n`);

/** It lies among pages that are written by hand. */
const BOT_MATRIX = `agents/${BOT_MATRIX_PAGE.file}`;
texts.set(BOT_MATRIX, `---\norder: 5\n---\n\n${await textOf(BOT_MATRIX_PAGE)}`);

const written = new Map<string, string>();
if (existsSync(join(DOCS, BOT_MATRIX))) written.set(BOT_MATRIX, readFileSync(join(DOCS, BOT_MATRIX), 'utf8'));
for (const folder of FOLDERS) {
  mkdirSync(join(DOCS, folder), { recursive: true });
  for (const file of readdirSync(join(DOCS, folder)))
    written.set(`${folder}/${file}`, readFileSync(join(DOCS, folder, file), 'utf8'));
}

const stale = [...new Set([...texts.keys(), ...written.keys()])].filter(
  (file) => texts.get(file) !== written.get(file),
);
if (process.argv.includes('--check')) {
  for (const file of stale) process.stdout.write(`docs/${file} is stale: npm run docs:reference\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else {
  for (const file of stale) {
    const text = texts.get(file);
    if (text === undefined) rmSync(join(DOCS, file));
    else writeFileSync(join(DOCS, file), text);
    process.stdout.write(`docs/${file}\n`);
  }
}
// The imported modules may keep timers and threads running.
process.exit();
