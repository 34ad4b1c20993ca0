// Stack traces of built programs show lines of the TypeScript sources.
import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import t from 'tap';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const STACK_TRACES = join(PROJECT_FOLDER, 'shared/process/stack-traces.cjs');

const SOURCE = `interface Asked { name: string }

function fail({ name }: Asked): never {
  throw new TypeError(\`no \${name}\`, { cause: new Error('deeper') });
}

fail({ name: 'luck' });
`;

t.test('a trace shows lines of the sources, and of the build where there is no map', async (t) => {
  const folder = temporaryFolder(t);
  const source = join(folder, 'failing.ts');
  const built = join(folder, 'failing.mjs');
  writeFileSync(source, SOURCE);
  buildSync({ entryPoints: [source], outfile: built, sourcemap: true, minify: true, format: 'esm' });
  const run = (): string =>
    spawnSync(process.execPath, ['--require', STACK_TRACES, built], { encoding: 'utf8' }).stderr;
  const mapped = run();
  t.match(mapped, /TypeError: no luck\n {4}at .*failing\.ts:4:9/);
  t.match(mapped, /failing\.ts:7:1\b/, 'its caller');
  t.match(mapped, /cause.*Error: deeper\n {4,6}at .*failing\.ts:4:/s, 'its cause');
  rmSync(`${built}.map`);
  t.match(run(), /TypeError: no luck\n {4}at .*failing\.mjs:1:/);
});

const AGAIN = `import { rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

for (let count = 0; count < 2; count += 1) {
  console.log(new Error('gone').stack);
  rmSync(new URL(\`\${import.meta.url}.map\`), { force: true });
  await setTimeout(10);
}
`;

t.test('a map is read once for a place, however many errors come from it', async (t) => {
  const folder = temporaryFolder(t);
  const [source, built] = [join(folder, 'again.ts'), join(folder, 'again.mjs')];
  writeFileSync(source, AGAIN);
  buildSync({ entryPoints: [source], outfile: built, sourcemap: true, minify: true, format: 'esm' });
  const printed = execFileSync(process.execPath, ['--require', STACK_TRACES, built], { encoding: 'utf8' });
  t.equal(printed.match(/again\.ts:5:15\b/g)?.length, 2, printed);
});

t.test('an error with a name or a message of its own has a trace', async (t) => {
  const print = (expression: string): string =>
    execFileSync(process.execPath, ['--require', STACK_TRACES, '--print', expression], { encoding: 'utf8' });
  t.match(print("class Odd extends Error { get name() { throw 1; } } new Odd('x').stack"), /^Error\n {4}at /);
  t.match(print("new RangeError('too far').stack"), /^RangeError: too far\n {4}at /);
});
