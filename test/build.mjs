// Compiles sources and tests once for `npm test`, file by file, into .tests/: a loader in each of hundreds of processes took minutes.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const PROJECT = dirname(dirname(fileURLToPath(import.meta.url)));
const OUT = join(PROJECT, '.tests');
const FOLDERS = ['control-plane', 'hardware-sim', 'node-daemon', 'shared', 'test', 'docs'];

/** A package of many files is quicker to load as one; each of these stays one module of a process, whichever file imports it. */
const PACKAGES = [
  '@koa/cors', '@koa/router', '@modelcontextprotocol/server', '@nats-io/transport-node', 'age-encryption', 'commander', 'fast-check', 'koa',
  'kysely', 'libphonenumber-js', 'lru-cache', 'mppx', 'nodemailer', 'pg', 'pino', 'prom-client', 'raw-body', 'viem',
  'rate-limiter-flexible', 'tap', 'ws', 'x402-fetch', '@x402/core', '@x402/evm', '@x402/fetch', 'yaml', 'zod',
];
/** Packages need these only optionally, or find them as files beside themselves. */
const EXTERNAL = ['@viem/anvil', 'bufferutil', 'utf-8-validate', 'pg-native'];
const OUT_PACKAGES = 'packages';
/** Lines of files so named stay out of the stacks that tap prints. */
const OUT_TAP = 'node_modules/@tapjs/tap.js';

/**
 * tap's own follows each promise with async hooks, to find the test of an error that nothing catches: 5 to 19 % of the CPU of tests with
 * a service. With this one such an error fails the file.
 */
const DOMAIN = `
  let hears = false;
  export class Domain {
    constructor(onError) {
      if (!hears) process.on('uncaughtException', onError);
      hears = true;
    }
    destroy() {}
  }`;

const isBundled = (specifier) =>
  PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`)) && !specifier.endsWith('.json');
const fileOf = (specifier) => (specifier === 'tap' ? OUT_TAP : `${specifier.replaceAll('/', '+')}.js`);
const { imports } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8'));

const bundled = new Set();

/** Every file stays a module of its own and finds what lies beside its source. */
const fileByFile = {
  name: 'file by file',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /.*/ }, ({ importer, kind, path }) =>
      kind === 'entry-point' ? undefined : { path: compiledPath(importer, path), external: true },
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

/** Relative, where it can be: Node resolves that the quickest. */
function compiledPath(importer, specifier) {
  const alias = Object.keys(imports).find((key) => specifier.startsWith(key.slice(0, -1)));
  const file =
    alias === undefined
      ? isBundled(specifier) && join(PROJECT, OUT_PACKAGES, fileOf(specifier))
      : join(PROJECT, specifier.replace(alias.slice(0, -1), imports[alias].slice(0, -1)));
  if (file === false) return specifier.replace(/^(\..*)\.ts$/, '$1.js');
  if (alias === undefined) bundled.add(specifier);
  return relative(dirname(importer), file).replace(/^(?!\.)/, './').replace(/\.ts$/, '.js');
}

const sources = (await Promise.all(FOLDERS.map(sourcesIn))).flat();

await rm(OUT, { recursive: true, force: true });
await build({
  absWorkingDir: PROJECT, entryPoints: sources, outdir: OUT, outbase: PROJECT,
  bundle: true, format: 'esm', platform: 'node', target: 'node20.19', charset: 'utf8', logLevel: 'warning',
  sourcemap: true, sourcesContent: false,
  // In code only: some of our texts are programs themselves.
  define: { 'import.meta.url': 'sourceUrl__', 'import.meta.dirname': 'sourceFolder__' },
  plugins: [fileByFile],
});
await buildPackages([...bundled]);
await writeFile(join(OUT, 'package.json'), JSON.stringify({ type: 'module', imports }));

/** As files in one folder, and what they share in others beside them. */
async function buildPackages(specifiers) {
  const entryOf = async (specifier) => {
    // Names that a CommonJS package has only when it runs.
    const names = Object.keys(await import(specifier)).filter((name) => name !== 'module.exports');
    if (specifier === 'tap') return tapEntry(names.filter((name) => name !== 'default'));
    return `export { ${names.join(', ')} } from ${JSON.stringify(specifier)};`;
  };
  const entries = {
    name: 'entries',
    setup({ onLoad, onResolve }) {
      onResolve({ filter: /.*/ }, ({ kind, path }) =>
        kind === 'entry-point' ? { path: join(PROJECT, `${path}.mjs`), pluginData: path } : undefined,
      );
      onLoad({ filter: /[\\/]async-hook-domain[\\/]/ }, () => ({ contents: DOMAIN }));
      onLoad({ filter: /.*/ }, async ({ pluginData }) =>
        typeof pluginData === 'string' ? { contents: await entryOf(pluginData), resolveDir: PROJECT } : undefined,
      );
    },
  };
  await build({
    entryPoints: specifiers.map((specifier) => ({ in: specifier, out: fileOf(specifier).replace(/\.js$/, '') })),
    absWorkingDir: PROJECT, outdir: join(OUT, OUT_PACKAGES), chunkNames: 'parts/[hash]',
    bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20.19',
    // Each process reads and scans all of it.
    minifySyntax: true, minifyWhitespace: true,
    logLevel: 'warning', external: EXTERNAL,
    plugins: [entries],
    // CommonJS within has these.
    banner: {
      js: [
        "import { createRequire as requireFrom } from 'node:module';",
        'const require = requireFrom(import.meta.url), __dirname = import.meta.dirname;',
      ].join(' '),
    },
  });
}

/** A file that plays beside others in one process gets, as its `t`, a test of its own: `playAs` sets it. */
function tapEntry(names) {
  return `
    import root from 'tap';
    export { ${names.join(', ')} } from 'tap';
    let current = root;
    export { root, current as default };
    export const playAs = (test) => { current = test; };`;
}

async function sourcesIn(folder) {
  const names = await readdir(join(PROJECT, folder), { recursive: true });
  return names
    .filter((name) => /(?<!\.d)\.ts$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => join(folder, name));
}
