// Blocks of code in the documentation that no test runs as programs: TypeScript and JavaScript name what the packages have, and each YAML is a
// file that its program takes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import { readPaymentsFile } from '#control-plane/config/payments-file.ts';
import { readFleetFile } from '#control-plane/operator/fleet-file/read-fleet-file.ts';
import { readConfigFile } from '#node-daemon/config/config-file.ts';
import { temporaryFolder } from '../fixtures/stacks/started-stack.ts';
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

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  module: ts.ModuleKind.NodeNext,
  types: ['node'],
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: true,
  paths: { 'simrack-client': [join(PROJECT_FOLDER, 'control-plane/client/package/entry.ts')] },
};

const blocks = readPages().flatMap(({ path, text }) =>
  blocksOf(text).map((block, index) => ({ ...block, path, where: `${path.replaceAll('/', '_')}_${index}` })),
);
const inLanguages = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));

t.test('TypeScript and JavaScript', async (t) => {
  const snippets = inLanguages('ts', 'js');
  const files = new Map(
    snippets.map(({ code, language, where }) => [
      join(PROJECT_FOLDER, 'test/docs', `${where}.${language}.ts`),
      `export {};\n${code}`,
    ]),
  );
  const given = join(PROJECT_FOLDER, 'test/docs/given.ts');
  files.set(given, GIVEN);
  const host = ts.createCompilerHost(OPTIONS);
  const { fileExists, getSourceFile, readFile } = host;
  host.fileExists = (name) => files.has(name) || fileExists(name);
  host.readFile = (name) => files.get(name) ?? readFile(name);
  host.getSourceFile = (name, version, ...rest) => {
    const text = files.get(name);
    return text === undefined
      ? getSourceFile(name, version, ...rest)
      : ts.createSourceFile(name, text, version);
  };
  const program = ts.createProgram([...files.keys()], OPTIONS, host);
  t.ok(snippets.length > 10);
  for (const name of files.keys()) {
    const found = ts
      .getPreEmitDiagnostics(program, program.getSourceFile(name))
      .filter(({ code }) => !name.endsWith('.js.ts') || ALSO_IN_JAVASCRIPT.has(code))
      .map(({ code, messageText }) => `${code} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`);
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
