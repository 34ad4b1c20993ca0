// Compiles sources and tests once for `npm test`, file by file, into .tests/: a loader in each of hundreds of processes took minutes.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const PROJECT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUT = join(PROJECT, '.tests');
const FOLDERS = ['control-plane', 'hardware-sim', 'node-daemon', 'shared', 'test', 'docs'];

/** Every file stays a module of its own and finds what lies beside its source. */
const fileByFile = {
  name: 'file by file',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /.*/ }, ({ kind, path }) =>
      kind === 'entry-point' ? undefined : { path: path.replace(/^([.#].*)\.ts$/, '$1.js'), external: true },
    );
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      if (!text.includes('import.meta')) return undefined;
      const own = [pathToFileURL(path).href, dirname(path)].map((each) => JSON.stringify(each));
      // On the first line: the others keep their numbers.
      const contents = `const sourceUrl__ = ${own[0]}, sourceFolder__ = ${own[1]}; ${text}`;
      return { contents, loader: 'ts' };
    });
  },
};

const sources = (await Promise.all(FOLDERS.map(sourcesIn))).flat();

await rm(OUT, { recursive: true, force: true });
await build({
  ...{ absWorkingDir: PROJECT, entryPoints: sources, outdir: OUT, outbase: PROJECT },
  ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20.19', charset: 'utf8', logLevel: 'warning' },
  ...{ sourcemap: true, sourcesContent: false },
  // In code only: some of our texts are programs themselves.
  define: { 'import.meta.url': 'sourceUrl__', 'import.meta.dirname': 'sourceFolder__' },
  plugins: [fileByFile],
});
const { imports } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'));
await writeFile(join(OUT, 'package.json'), JSON.stringify({ type: 'module', imports }));

async function sourcesIn(folder) {
  const names = await readdir(join(PROJECT, folder), { recursive: true });
  return names
    .filter((name) => /(?<!\.d)\.ts$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => join(folder, name));
}
