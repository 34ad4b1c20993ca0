// Bundles the daemon with its imports into a few files that plain Node.js runs.
import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';

const PROJECT = join(import.meta.dirname, '../..');
const NATIVE_BINDING = 'serial-port.node';
const WASM = 'speex-resampler-nonsimd.wasm';
/** Files that the status page reads from its own folder. */
const PAGE_FILES = ['status-page.css', 'status-page.js'];
const { resolve } = createRequire(import.meta.url);

/** Writes the bundle into `folder`; `main.mjs` is the program. Resolves with the folders of the packages that are in it. */
export async function bundle(
  folder: string,
  { prebuild, version }: { prebuild: string; version: string },
): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: { main: join(PROJECT, 'node-daemon/main.ts') },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    absWorkingDir: PROJECT,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
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
    external: ['bufferutil', 'utf-8-validate', `./${NATIVE_BINDING}`],
    plugins: [
      {
        name: 'native binding',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^node-gyp-build$/ }, () => ({ path: NATIVE_BINDING, namespace: 'native' }));
          onLoad({ filter: /.*/, namespace: 'native' }, () => ({
            contents: `module.exports = () => require('./${NATIVE_BINDING}');`,
          }));
        },
      },
    ],
  });
  const bindings = dirname(dirname(resolve('@serialport/bindings-cpp')));
  const resampler = dirname(resolve('@echogarden/speex-resampler-wasm'));
  await cp(join(bindings, 'prebuilds', prebuild), join(folder, NATIVE_BINDING));
  await cp(join(resampler, WASM), join(folder, WASM));
  for (const name of PAGE_FILES) await cp(join(PROJECT, 'node-daemon/status-page', name), join(folder, name));
  return packagesOf(Object.keys(metafile.inputs));
}

/** Returns the folders below node_modules that contain these files, in order. */
function packagesOf(files: readonly string[]): string[] {
  const folders = files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(folders)].sort().map((folder) => join(PROJECT, folder));
}
