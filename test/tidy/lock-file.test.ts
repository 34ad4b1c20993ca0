// The lock file: no download host, and on arm64 everything that x64 has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { PROJECT_FOLDER } from './sources.ts';

const lock = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { resolved?: string }>;
};

t.test('the lock file names no download host', async (t) => {
  const named = Object.entries(lock.packages).filter(([, { resolved }]) => resolved !== undefined);
  t.same(
    named.map(([path]) => path),
    [],
  );
});

t.test('every binary for Linux on x64 has one on arm64', async (t) => {
  const paths = Object.keys(lock.packages);
  const onX64 = paths.filter((path) => /linux-(x64|amd64)(-gnu)?$/.test(path));
  t.ok(onX64.length >= 4);
  const missing = onX64.filter((path) => !paths.includes(path.replace(/linux-(x64|amd64)/, 'linux-arm64')));
  t.same(missing, []);
});
