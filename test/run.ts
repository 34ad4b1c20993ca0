// Runs compiled tests, some files of a folder in each process, with one Postgres for all. Not with `tap`'s own command: its loader
// hooks, for mocks and coverage that no test here uses, take two seconds of each process.
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import t from 'tap';
import { againstThree } from './against-three.ts';
import { fastFolder, SHARED_SERVER, startPostgres } from './fixtures/database/postgres.ts';
import { skipWithoutNats } from './fixtures/service/nats.ts';
import { INSTANCES, instanceCount } from './fixtures/service/several-instances.ts';
import { IS_WHOLE, someOf } from './fixtures/sweep.ts';
import { type Play, plays } from './plays.ts';

const USAGE = `usage: npm test -- [--reporter NAME] [--jobs N] [FILE or folder ...]
       npm run test:long -- [the same]

  FILE            a test, such as test/tidy/imports.test.ts or its name, imports; without any: all of them
  --reporter NAME base, terse, tap, junit, json ... (default: base in a terminal, else tap)
  --jobs N        so many processes at the same time (default: 4)
  --whole         every case of the tests that sweep over many, all that boot a Debian, every test against three instances, and only these (test:long)
`;
const COMPILED = '.tests';
/** In the text of a compiled test that has more cases than an ordinary run plays. */
const SWEEPS = /fixtures\/sweep\.js/;
/** In the text of one that boots a Debian: minutes, of which a processor works one. */
const BOOTS_DEBIAN = /fixtures\/packages\/(?:debian-host|installed-daemon)\.js/;
/** For those that are played again. */
const REPEATED_INSTANCES = 3;
/**
 * A young generation of 16 MB from the start: most objects of a test live for one request, and are not copied. A larger one costs more than
 * it saves, as the first use of each page of memory takes 20 µs in a virtual machine.
 */
const NODE_FLAGS = ['--enable-source-maps', '--min-semi-space-size=16', '--max-semi-space-size=16'];
/** Timeout of one file. */
const TIMEOUT_MS = 400_000;
const TOGETHER = join(dirname(import.meta.filename), 'together.js');
const WHOLE_TIMEOUT_MS = 3_600_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: 'boolean', short: 'h' },
    reporter: { type: 'string', default: process.stdout.isTTY ? 'base' : 'tap' },
    // On two processors: many tests wait more than they work.
    jobs: { type: 'string', default: '4' },
    whole: { type: 'boolean', default: false },
  },
});
const { help, jobs, reporter, whole } = values;

/** All compiled tests at or below the paths of sources, or of these names, in order. */
async function testsAt(paths: readonly string[]): Promise<string[]> {
  const names = await readdir(COMPILED, { recursive: true });
  const tests = names.filter((name) => name.endsWith('.test.js')).sort();
  const wanted = paths.map((path) => path.replace(/^\.tests\//, '').replace(/\.test\.[tj]s$/, '.test.js'));
  const chosen = wanted.flatMap((path) => {
    const found = tests.filter(
      (name) =>
        name === path || name.startsWith(`${path.replace(/\/$/, '')}/`) || name.endsWith(`/${path}.test.js`),
    );
    if (found.length === 0) throw new Error(`no test at ${path}`);
    return found;
  });
  return (paths.length === 0 ? tests : chosen).map((name) => join(COMPILED, name));
}

/** Those at the paths; without any, an ordinary run plays one of those that boot a Debian, by a seed, and the whole also those that sweep. */
async function filesOf(all: readonly string[]): Promise<string[]> {
  const texts = new Map(
    await Promise.all(all.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
  );
  const importing = (modules: RegExp): Set<string> =>
    new Set(all.filter((file) => modules.test(texts.get(file) ?? '')));
  const sweeps = importing(SWEEPS);
  const boots = importing(BOOTS_DEBIAN);
  if (whole) return all.filter((file) => sweeps.has(file) || boots.has(file));
  if (positionals.length > 0 || boots.size === 0) return [...all];
  const [played] = someOf(t, [...boots], 1);
  return all.filter((file) => !boots.has(file) || file === played);
}

/** Stops at the end of the run. Returns its URL. */
async function startSharedServer(): Promise<string> {
  const postgres = await startPostgres(['max_connections=400'], { hasSocket: true });
  t.teardown(() => postgres.stop());
  // Makes the template before the first test asks for it.
  await postgres.createMigrated();
  return postgres.url;
}

/**
 * Those that play against three instances, too: of all tests one, by a seed, and in the whole each. None where that needs a program that is
 * not installed, or if all play so.
 */
function repeated(files: readonly string[]): string[] {
  if (instanceCount() > 1) return [];
  const sources = new Map(
    files.map((file) => [file.replace(/^\.tests\//, '').replace(/\.js$/, '.ts'), file]),
  );
  const listed = againstThree([...sources.keys()], whole);
  const chosen = whole || positionals.length > 0 ? listed : someOf(t, listed, 1);
  const problem = chosen.length > 0 && skipWithoutNats();
  if (!problem) return chosen.map((source) => String(sources.get(source)));
  t.comment(`${chosen.length} files do not play against three instances: ${problem}`);
  return [];
}

async function run(): Promise<void> {
  const all = await testsAt(positionals);
  const files = await filesOf(all);
  const again = repeated(all);
  const folder = mkdtempSync(join(fastFolder(), 'simrack-run-'));
  // Postgres, which root runs as another user, reads from it.
  chmodSync(folder, 0o755);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const postgresUrl = process.env[SHARED_SERVER] ?? (await startSharedServer());
  // Postgres' package ends the process with 0.
  process.once('exit', () => {
    if (!t.passing()) process.exitCode = 1;
  });
  // Each file has a time-out.
  t.setTimeout(0);
  t.jobs = Number(jobs);
  const timeoutMs = whole ? WHOLE_TIMEOUT_MS : TIMEOUT_MS;
  const env = {
    ...process.env,
    [SHARED_SERVER]: postgresUrl,
    // Folder of all temporary files.
    TMPDIR: folder,
    TAP_TIMEOUT: String(timeoutMs / 1000),
    ...(whole ? { [IS_WHOLE]: '1' } : {}),
  };
  if (reporter !== 'tap') {
    const { report } = await import('@tapjs/reporter');
    // It reads only coverage settings of tap's own configuration.
    await report(reporter, t, { get: () => undefined, values: {} } as never);
  }
  const nodeOptions = `NODE_OPTIONS=${process.env['NODE_OPTIONS'] ?? ''}`;
  // Through env: tap's own options of Node would record the coverage of the file and of every program that it starts.
  const play = ({ files, instances, niceness }: Play): void => {
    const together = files.length === 1 ? [] : [TOGETHER];
    void t.spawn(
      'env',
      [nodeOptions, 'nice', '-n', niceness, process.execPath, ...NODE_FLAGS, ...together, ...files],
      {
        buffered: true,
        stdio: reporter === 'tap' ? 'inherit' : 'pipe',
        timeout: timeoutMs * files.length,
        env: instances === 1 ? env : { ...env, [INSTANCES]: String(instances) },
      },
      nameOf(files, instances),
    );
  };
  for (const each of await plays(files, again, REPEATED_INSTANCES)) play(each);
}

function nameOf([first = '', ...others]: readonly string[], instances: number): string {
  const files = others.length === 0 ? first : `${first} and ${others.length} more`;
  return instances === 1 ? files : `${files} against ${instances} instances`;
}

if (help) process.stdout.write(USAGE);
else if (!existsSync(COMPILED)) throw new Error('the tests are not compiled: npm test does that');
else
  await run().catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  });
