// The parts of the service that its package has beside the bundled sources: threads, WebAssembly, pages. No embedded database.
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { bundle, PROJECT } from '#shared/packaging/bundle.ts';

/** They start threads or read files of their own: they stay packages, in node_modules beside the program. */
const KEPT = {
  tinypool: ['LICENSE', 'package.json', 'dist'],
  uplot: ['LICENSE', 'package.json', 'dist/uPlot.iife.min.js', 'dist/uPlot.min.css'],
};
const SIGNATURES_WASM = 'secp256k1.wasm';
const RESAMPLER_WASM = 'speex-resampler-nonsimd.wasm';
/** Files that pages read from their own folder. */
const PAGE_FILES = [
  'pages/page.css',
  'pages/page.js',
  'console/browser/console.css',
  'console/browser/console.js',
  'console/browser/plots.js',
];
const { resolve } = createRequire(import.meta.url);

/** Writes the bundle into `folder`. Resolves with the folders of the packages that are in it. */
export function bundleService(folder: string, version: string): Promise<string[]> {
  const inProject = (path: string): string => relative(PROJECT, path);
  const packageFolder = (name: string): string => inProject(dirname(resolve(`${name}/package.json`)));
  const resampler = dirname(resolve('@echogarden/speex-resampler-wasm'));
  // It exports its CommonJS form, one folder below.
  const signatures = dirname(dirname(resolve('tiny-secp256k1')));
  return bundle(folder, version, {
    entryPoints: {
      main: 'control-plane/main.ts',
      'signer-thread': 'control-plane/signatures/signer-thread.mjs',
    },
    // Postgres is reached by its URL: the package has neither the embedded database nor libpq.
    external: ['tinypool', '@electric-sql/pglite', 'pg-native'],
    copied: [
      ...Object.entries(KEPT).flatMap(([name, files]) =>
        files.map((file) => [join(packageFolder(name), file), `node_modules/${name}/${file}`] as const),
      ),
      [inProject(join(resampler, RESAMPLER_WASM)), RESAMPLER_WASM],
      [inProject(join(signatures, SIGNATURES_WASM)), SIGNATURES_WASM],
      ...PAGE_FILES.map(
        (path) => [join('control-plane', path), path.slice(path.lastIndexOf('/') + 1)] as const,
      ),
    ],
    copiedPackages: Object.keys(KEPT).map(packageFolder),
  });
}
