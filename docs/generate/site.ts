// `npm run docs`: installs what builds the site where that is not there as locked, and builds it into docs/.vitepress/dist.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PROJECT_FOLDER } from './source/doc-comments.ts';

const FOLDER = join(PROJECT_FOLDER, 'docs');
const VITEPRESS = join(FOLDER, 'node_modules/vitepress/bin/vitepress.js');

interface Lock {
  packages: Record<string, { version?: string }>;
}

/** The version of VitePress that a lock file has; npm leaves one of what it installed in node_modules. */
function versionIn(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return (JSON.parse(readFileSync(path, 'utf8')) as Lock).packages['node_modules/vitepress']?.version;
}

const wanted = versionIn(join(FOLDER, 'package-lock.json'));
if (versionIn(join(FOLDER, 'node_modules/.package-lock.json')) !== wanted)
  execFileSync('npm', ['ci', '--prefix', FOLDER], { stdio: 'inherit' });
execFileSync(process.execPath, [VITEPRESS, 'build', FOLDER], { stdio: 'inherit' });
process.stdout.write(`
The site is in docs/.vitepress/dist. To read it at http://localhost:4173, run:

  node ${relative(process.cwd(), VITEPRESS)} preview docs
`);
