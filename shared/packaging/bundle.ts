// Bundles a program with its imports into a few files that plain Node.js runs, with source maps.
import { cp, writeFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import * as z from 'zod';

export const PROJECT = join(import.meta.dirname, '../..');

/** Nothing is written there: names of files depend on it, and must not depend on a temporary folder. */
const PLACE = join(PROJECT, 'dist/package');

/** Node loads it before a program. */
const STACK_TRACES = ['shared/process/stack-traces.cjs', 'stack-traces.cjs'] as const;

/** The parts of a program. Paths of sources are relative to the project. */
export interface ProgramParts {
  /** Source of each bundled file, by its name without `.mjs`; `main` is the program. */
  readonly entryPoints: Readonly<Record<string, string>>;
  /** Imports that stay imports: optional packages that are missing, and packages that are copied. */
  readonly external: readonly string[];
  readonly plugins?: readonly Plugin[];
  /** Files that the program reads from its own folder: the path of each, and its path in the folder. */
  readonly copied: ReadonlyArray<readonly [from: string, to: string]>;
  /** Folders of packages of which files are copied. */
  readonly copiedPackages?: readonly string[];
}

/** Writes the bundle into `folder`; `main.mjs` is the program. Resolves with the folders of the packages that are in it, in order. */
export async function bundle(
  folder: string,
  version: string,
  { entryPoints, external, plugins = [], copied, copiedPackages = [] }: ProgramParts,
): Promise<string[]> {
  const { metafile, outputFiles } = await build({
    entryPoints: { ...entryPoints },
    outdir: PLACE,
    write: false,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: PROJECT,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    sourcemap: true,
    sourcesContent: false,
    charset: 'utf8',
    legalComments: 'inline',
    logLevel: 'error',
    define: { PACKAGED_VERSION: JSON.stringify(version) },
    chunkNames: 'part-[hash]',
    // Bundled CommonJS modules need these.
    banner: {
      js: [
        "import { createRequire as requireFrom } from 'node:module';",
        'const require = requireFrom(import.meta.url), __dirname = import.meta.dirname;',
      ].join(' '),
    },
    // Optional packages of ws that are not installed.
    external: ['bufferutil', 'utf-8-validate', ...external],
    plugins: [...plugins],
  });
  for (const { path, text, contents } of outputFiles)
    await writeFile(join(folder, basename(path)), path.endsWith('.map') ? withNamedSources(text) : contents);
  for (const [from, to] of [STACK_TRACES, ...copied])
    await cp(join(PROJECT, from), join(folder, to), { recursive: true });
  return packagesOf([...Object.keys(metafile.inputs), ...copiedPackages.map((each) => `${each}/`)]);
}

const mapSchema = z.looseObject({ sources: z.array(z.string()) });

/** Names the sources of a map by their path in the project. */
function withNamedSources(text: string): string {
  const map = mapSchema.parse(JSON.parse(text));
  const sources = map.sources.map((source) =>
    relative(PROJECT, resolve(PLACE, source)).replace(/^.*?node_modules\//, 'node_modules/'),
  );
  return JSON.stringify({ ...map, sources });
}

/** Returns the folders below node_modules that contain these files, in order. */
function packagesOf(files: readonly string[]): string[] {
  const folders = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(folders)].sort().map((folder) => join(PROJECT, folder));
}
