// Blocks of code in the documentation, whether a test runs them or not: TypeScript and JavaScript name what the packages have, and each YAML
// is a file that its program takes.
import { spawnSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readPaymentsFile } from '#control-plane/config/payments-file.ts';
import { readFleetFile } from '#control-plane/operator/fleet-file/read-fleet-file.ts';
import { readConfigFile } from '#node-daemon/config/config-file.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../tidy/sources.ts';
import { type Block, blocksOf, readPages } from './pages.ts';

/** The values that the text around a block has introduced. */
const GIVEN = `
import type { PrivateKeyAccount } from 'viem/accounts';
import type { SimrackClient } from 'simrack-client';
declare global {
  const account: PrivateKeyAccount;
  const answerOf: (response: Response) => Promise<any>;
  const baseUrl: string;
  const body: string;
  const client: SimrackClient;
  const folder: string;
  const headers: Record<string, string>;
  const rawBody: string;
  const secret: string;
  const token: string;
}
`;

/** Errors that are wrong in JavaScript too: no such module, name, property, option, export; other arguments. */
const ALSO_IN_JAVASCRIPT: ReadonlySet<number> = new Set([
  2304, 2305, 2307, 2339, 2353, 2551, 2552, 2554, 2561, 2724,
]);

const COMPILER = join(PROJECT_FOLDER, 'test/tools/node_modules/typescript-7/bin/tsc');

const OPTIONS = {
  target: 'esnext',
  lib: ['es2023', 'dom'],
  module: 'nodenext',
  types: ['node'],
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  paths: {
    '#*': [join(PROJECT_FOLDER, '*')],
    'simrack-client': [join(PROJECT_FOLDER, 'control-plane/client/package/entry.ts')],
  },
};

const blocks = readPages().flatMap(({ path, text }) =>
  blocksOf(text).map((block, index) => ({ ...block, path, where: `${path.replaceAll('/', '_')}_${index}` })),
);
const inLanguages = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));

const codeOf = (problem: string): number => Number(/error TS(\d+)/.exec(problem)?.[1]);

t.test('TypeScript and JavaScript', async (t) => {
  const snippets = inLanguages('ts', 'js');
  const folder = temporaryFolder(t);
  const files = new Map([
    ['package.json', '{ "type": "module" }'],
    ['tsconfig.json', JSON.stringify({ compilerOptions: OPTIONS })],
    ['given.ts', GIVEN],
    ...snippets.map(
      ({ code, language, where }) => [`${where}.${language}.ts`, `export {};\n${code}`] as const,
    ),
  ]);
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  symlinkSync(join(PROJECT_FOLDER, 'node_modules'), join(folder, 'node_modules'));
  const { status, stdout } = spawnSync(process.execPath, [COMPILER, '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  });
  t.ok(snippets.length > 10);
  const problems = stdout.split('\n').filter((line) => /error TS/.test(line));
  t.equal(status === 0, problems.length === 0, 'it lists the reasons of its exit code');
  for (const name of files.keys()) {
    const found = problems
      .filter((line) => line.startsWith(`${name}(`))
      .filter((line) => !name.endsWith('.js.ts') || ALSO_IN_JAVASCRIPT.has(codeOf(line)));
    t.same(found, [], name);
  }
});

const ADDRESS = `0x${'1'.repeat(40)}`;

/** Which program reads the YAML of a page. */
const readerOf = ({ code, path }: Block & { path: string }): ((file: string) => unknown) | undefined => {
  if (code.startsWith('scrape_configs:')) return undefined;
  if (code.startsWith('networks:')) return readPaymentsFile;
  return code.startsWith('cards:')
    ? readFleetFile
    : path.startsWith('docs/operators/')
      ? readConfigFile
      : undefined;
};

t.test('YAML', async (t) => {
  const folder = temporaryFolder(t);
  let read = 0;
  for (const block of inLanguages('yaml')) {
    const reader = readerOf(block);
    if (reader === undefined) continue;
    const file = join(folder, `${block.where}.yaml`);
    writeFileSync(file, block.code.replaceAll('0x…', ADDRESS), { mode: 0o600 });
    t.doesNotThrow(() => reader(file), block.where);
    read += 1;
  }
  t.ok(read >= 10, `${read} files`);
});
