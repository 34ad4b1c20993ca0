// Rules on how sources look that no linter has: length, first line, words with their replacement.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { listFiles, PROJECT_FOLDER, readSources } from './sources.ts';

const FILE_LINES_MAX = 400;
const README_LINES_MAX = 150;
const TOP_LEVEL_FOLDERS = ['.ci', 'control-plane', 'docs', 'hardware-sim', 'node-daemon', 'shared', 'test'];
const DRAWERS = /^(utils?|helpers?|common|types|lib|misc|models|index)$/;

const BANNED: ReadonlyArray<[pattern: RegExp, instead: string]> = [
  [/\b(TODO|FIXME|XXX|HACK)\b/, 'do it, or say in the README what is missing'],
  [/@ts-(ignore|nocheck)/, 'mend the type'],
  [/\b(used to be|replaces the old|legacy code)\b/i, 'say how it is, not how it was'],
  [/\bretr(y|ies): ?\d/, 'tests are not run again until they pass'],
  [/\.\.\.\{ /, 'a field a line, as the formatter writes it'],
  [/\.only\(|\bt\.skip\(/, 'every test runs'],
];

const sources = readSources();
const pathsOf = (found: ReadonlyArray<{ path: string }>): string[] => found.map(({ path }) => path);

t.test('every source is short and says first what it holds', async (t) => {
  const long = sources.filter(({ text }) => text.split('\n').length > FILE_LINES_MAX);
  t.same(pathsOf(long), [], `${FILE_LINES_MAX} lines at most`);
  const silent = sources.filter(({ text }) => !/^(#!|\/\/ \S.{10,})/.test(text.split('\n')[0] ?? ''));
  t.same(pathsOf(silent), [], 'each begins with a comment that says what it holds');
});

t.test('no banned word, each with what to do instead', async (t) => {
  const others = sources.filter(({ path }) => path !== 'test/tidy/source.test.ts');
  for (const [pattern, instead] of BANNED) {
    const found = others.filter(({ text }) => pattern.test(text));
    t.same(pathsOf(found), [], `${pattern}: ${instead}`);
  }
});

t.test('folders are the agreed ones, and none is a drawer', async (t) => {
  const folders = new Set(
    listFiles('*')
      .map(dirname)
      .filter((folder) => folder !== '.'),
  );
  const strange = [...folders].filter((folder) => !TOP_LEVEL_FOLDERS.includes(String(folder.split('/')[0])));
  t.same(strange, [], 'in an agreed top-level folder');
  const drawers = [...folders, ...pathsOf(sources)].filter((path) => DRAWERS.test(basename(path, '.ts')));
  t.same(drawers, [], 'each names what it holds');
});

t.test('every product folder has a short README, and so has the top', async (t) => {
  const files = listFiles('*README.md');
  for (const folder of ['', 'control-plane/', 'node-daemon/', 'hardware-sim/', 'shared/', 'test/']) {
    t.ok(files.includes(`${folder}README.md`), `${folder}README.md`);
  }
  for (const file of files) {
    const lines = readFileSync(join(PROJECT_FOLDER, file), 'utf8').split('\n').length;
    t.ok(lines <= README_LINES_MAX, `${file} has at most ${README_LINES_MAX} lines`);
  }
});

t.test('every test file tests: it has an assertion and is found by the runner', async (t) => {
  const tests = sources.filter(({ path }) => /\btest\.ts$/.test(path));
  const unfound = tests.filter(({ path }) => !/^test\/.*\.test\.ts$/.test(path));
  t.same(pathsOf(unfound), []);
  const idle = tests.filter(
    ({ text }) =>
      !/\bt\.(ok|equal|match|same|not|notMatch|throws|rejects|resolves|pass|strictSame)\b/.test(text),
  );
  t.same(pathsOf(idle), []);
});
