// Type declarations of the package, made from the sources file by file. Those that come from schemas are spelled out, so that zod is not needed.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { apiTypesText } from './api-types-text.ts';

const ENTRY = 'control-plane/client/package/entry.ts';
/** Its types are those of schemas. */
const API_TYPES = 'control-plane/client/api-types.ts';

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  declaration: true,
  stripInternal: true,
  isolatedDeclarations: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: false,
};

const IMPORT = /(?<=\bfrom )(['"])([^'"]+)\1/g;

/** By name without an extension: all files that the entry needs, whose imports have `extension` (`js` or `cjs`). Throws an error for a type that is not written out in a source. */
export function declarations(project: string, extension: string): Map<string, string> {
  const made = new Map<string, string>();
  const pending = [ENTRY];
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const name = basename(path, '.ts');
    if (made.has(name)) continue;
    const from = dirname(path);
    made.set(
      name,
      declarationText(project, path).replace(IMPORT, (_, quote: string, specifier: string) => {
        const imported = specifier.startsWith('#') ? specifier.slice(1) : join(from, specifier);
        pending.push(imported);
        return `${quote}./${basename(imported, '.ts')}.${extension}${quote}`;
      }),
    );
  }
  return made;
}

function declarationText(project: string, path: string): string {
  if (path === API_TYPES) return apiTypesText();
  const source = readFileSync(join(project, path), 'utf8');
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    compilerOptions: OPTIONS,
    fileName: path,
    reportDiagnostics: true,
  });
  const [problem] = diagnostics;
  if (problem !== undefined)
    throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(problem.messageText, '\n')}`);
  return outputText;
}
