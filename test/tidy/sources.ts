// The TypeScript sources of the project as git sees them, for the rules that are tests.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROJECT_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../..');

export interface Source {
  /** Relative to the project's folder. */
  path: string;
  text: string;
  /** Its imports: paths of sources as above, packages by name, `node:` modules. */
  imports: string[];
  /** Its imports with their names: `shared/clock.ts:Clock`; `shared/clock.ts:*` is all of a file. */
  importedNames: string[];
}

/** Every file that is, or will be, in the repository and matches a pattern of git. */
export function listFiles(pattern: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate', pattern];
  const listed = execFileSync('git', args, { cwd: PROJECT_FOLDER, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
  return listed.filter((path) => existsSync(join(PROJECT_FOLDER, path)));
}

export function readSources(): Source[] {
  return listFiles('*.ts').map((path) => {
    const text = readFileSync(join(PROJECT_FOLDER, path), 'utf8');
    return { path, text, ...importsOf(path, text) };
  });
}

const IMPORT =
  /^(?:import|export)\b([^;'"]*?)from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;
const NAME = /(?:^|,)\s*(?:type\s+)?([\w$]+)/g;

function importsOf(path: string, text: string): Pick<Source, 'imports' | 'importedNames'> {
  const imports: string[] = [];
  const importedNames: string[] = [];
  for (const [, clause = '*', from, bare, late] of text.matchAll(IMPORT)) {
    const name = resolved(path, String(from ?? bare ?? late));
    imports.push(name);
    const list = /\{([^}]*)\}/.exec(clause)?.[1];
    const names = list === undefined ? ['*'] : [...list.matchAll(NAME)].map(([, each]) => each);
    for (const each of names) importedNames.push(`${name}:${each}`);
  }
  return { imports, importedNames };
}

function resolved(path: string, specifier: string): string {
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (specifier.startsWith('.')) return join(dirname(path), specifier);
  return specifier.startsWith('@')
    ? specifier.split('/').slice(0, 2).join('/')
    : String(specifier.split('/')[0]);
}
