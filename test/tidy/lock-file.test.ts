// The lock files: no download host, nothing missing that `npm ci` would ask for, on arm64 everything that x64 has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROJECT_FOLDER } from './sources.ts';

interface Lock {
  packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
}

for (const folder of ['.', 'docs', 'test/tools'])
  t.test(`the lock file in ${folder}`, async (t) => {
    const file = join(PROJECT_FOLDER, folder, 'package-lock.json');
    const { packages } = JSON.parse(readFileSync(file, 'utf8')) as Lock;
    const paths = Object.keys(packages);
    const known = new Set(paths);

    t.test('names no download host', async (t) => {
      t.same(
        paths.filter((path) => packages[path]?.resolved !== undefined),
        [],
      );
    });

    // Rollup, in docs, has one for x64 only.
    const skip = folder === 'docs';
    t.test('has a binary for Linux on arm64 for every one on x64', { skip }, async (t) => {
      const onX64 = paths.filter((path) => /linux-(x64|amd64)(-gnu)?$/.test(path));
      t.ok(onX64.length > 0);
      t.same(
        onX64.filter((path) => !known.has(path.replace(/linux-(x64|amd64)/, 'linux-arm64'))),
        [],
      );
    });

    t.test('has every optional dependency, for systems other than this one too', async (t) => {
      const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).filter(
          (name) => !known.has(`node_modules/${name}`) && !known.has(`${path}/node_modules/${name}`),
        ),
      );
      t.same(missing, []);
    });
  });
