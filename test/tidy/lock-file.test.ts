// The lock file: no download host, nothing missing that `npm ci` would ask for, on arm64 everything that x64 has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROJECT_FOLDER } from './sources.ts';

const lock = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
};

t.test('the lock file names no download host', async (t) => {
  const named = Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined);
  t.same(
    named.map(([path]) => path),
    [],
  );
});

t.test('nor do those of the documentation and of the tools', async (t) => {
  for (const folder of ['docs', 'test/tools']) {
    const file = join(PROJECT_FOLDER, folder, 'package-lock.json');
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as typeof lock;
    const named = Object.values(packages).filter(({ resolved }) => resolved !== undefined);
    t.same(named, [], folder);
  }
});

t.test('every binary for Linux on x64 has one on arm64', async (t) => {
  const paths = Object.keys(lock.packages);
  const onX64 = paths.filter((path) => /linux-(x64|amd64)(-gnu)?$/.test(path));
  t.ok(onX64.length >= 4);
  const missing = onX64.filter((path) => !paths.includes(path.replace(/linux-(x64|amd64)/, 'linux-arm64')));
  t.same(missing, []);
});

t.test('every optional dependency is locked, for systems other than this one too', async (t) => {
  const paths = new Set(Object.keys(lock.packages));
  const missing = Object.entries(lock.packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !paths.has(`node_modules/${name}`) && !paths.has(`${path}/node_modules/${name}`),
    ),
  );
  t.same(missing, []);
});
