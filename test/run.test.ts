// The runner of the tests fails where a test fails, and only there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import t, { type Test } from 'tap';
import { SHARED_SERVER } from './fixtures/database/postgres.ts';
import { temporaryFolder } from './fixtures/temporary-folder.ts';

// The compiled one where this file is compiled.
const { filename } = import.meta;
const RUNNER = join(dirname(filename), `run${extname(filename)}`);
const LOADER = extname(filename) === '.ts' ? [`--import=${import.meta.resolve('tsx')}`] : [];

/** With the Postgres of this run, where there is one. */
function run(t: Test, tests: Readonly<Record<string, string>>, args: string[], env = process.env) {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, '.tests/test'), { recursive: true });
  for (const [name, source] of Object.entries(tests)) {
    const file = join(folder, '.tests/test', name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
  }
  return spawnSync(process.execPath, [...LOADER, RUNNER, ...args], { cwd: folder, env, encoding: 'utf8' });
}

const FAILS = "console.log('not ok 1 - a claim'); console.log('1..1'); process.exitCode = 1;";
const PASSES = "console.log('ok 1 - a claim'); console.log('1..1');";
const CRASHES = "throw new Error('before any claim');";
const SAYS_NOTHING = '';

for (const reporter of ['tap', 'terse']) {
  t.test(`with the reporter ${reporter}`, async (t) => {
    const status = (tests: Record<string, string>, env?: NodeJS.ProcessEnv): number | null =>
      run(t, tests, [`--reporter=${reporter}`], env).status;
    t.equal(status({ 'a.test.js': PASSES }), 0);
    const { [SHARED_SERVER]: _, ...withoutServer } = process.env;
    t.equal(
      status({ 'a.test.js': PASSES, 'b.test.js': FAILS }, withoutServer),
      1,
      'also with a server of its own',
    );
    t.equal(status({ 'a.test.js': CRASHES, 'b.test.js': PASSES }), 1);
  });
}

t.test('some of the tests, by the path of their source or by name', async (t) => {
  const tests = { 'a.test.js': FAILS, 'b.test.js': PASSES, 'c.test.js': SAYS_NOTHING };
  t.equal(run(t, tests, ['--reporter=tap', 'test/b.test.ts']).status, 0);
  t.equal(run(t, tests, ['--reporter=tap', 'b']).status, 0, 'or by its name');
  t.match(run(t, tests, ['--reporter=tap', 'test/none.test.ts']), {
    status: 1,
    stderr: /no test at test\/none/,
  });
});

t.test('one of the files that boot a Debian, unless they are named, or all are played', async (t) => {
  const boots = `import './fixtures/packages/debian-host.js'; ${PASSES}`;
  const sweeps = `import './fixtures/sweep.js'; ${PASSES}`;
  const tests = { 'a.test.js': boots, 'b.test.js': boots, 'c.test.js': PASSES, 'd.test.js': sweeps };
  const modules = { 'fixtures/packages/debian-host.js': '', 'fixtures/sweep.js': '' };
  const played = (...args: string[]): string[] => {
    const { stdout } = run(t, { ...tests, ...modules }, ['--reporter=tap', ...args]);
    return [...stdout.matchAll(/^ok \d+ - \S+\/([a-d])\.test\.js/gm)].map(([, name]) => String(name)).sort();
  };
  t.match(played().join(''), /^[ab]cd$/);
  t.same(played('a', 'b'), ['a', 'b']);
  t.same(played('--whole'), ['a', 'b', 'd']);
});

const needsBuild = extname(filename) === '.ts' && 'needs the compiled tests';
t.test('files of a folder share a process, and fail each for itself', { skip: needsBuild }, async (t) => {
  const tap = JSON.stringify(join(dirname(filename), '../packages/node_modules/@tapjs/tap.js'));
  const file = (claim: string): string => `
    import t from ${tap};
    globalThis.before ??= [];
    t.test('a claim', async (t) => { ${claim} });
    t.teardown(() => { globalThis.before.push('an end'); });`;
  const passes = file('t.ok(true);');
  const comesLater = file("t.same(globalThis.before, ['an end'], 'after the end of the other');");
  const fails = file('t.ok(false);');
  const folder = (first: string, second: string) => ({ 'part/a.test.js': first, 'part/b.test.js': second });
  t.equal(run(t, folder(passes, comesLater), ['--reporter=tap']).status, 0);
  const { status, stdout } = run(t, folder(fails, passes), ['--reporter=tap']);
  t.equal(status, 1);
  t.match(stdout, /^ +not ok 1 - \S+a\.test\.js/m);
  t.match(stdout, /^ +ok 2 - \S+b\.test\.js/m);
  t.match(run(t, folder(`import ${tap}; ${CRASHES}`, passes), ['--reporter=tap']), {
    status: 1,
    stdout: /before any claim/,
  });
  t.equal(run(t, folder(`import ${tap}; process.exit();`, passes), ['--reporter=tap']).status, 1);
  const late = file(
    "setTimeout(() => { throw new Error('too late'); }); await new Promise((r) => setTimeout(r, 50));",
  );
  t.equal(run(t, folder(late, passes), ['--reporter=tap']).status, 1);
});
