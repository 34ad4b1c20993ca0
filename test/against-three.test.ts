// The list of files that play against three instances names files that exist, and each file of its folders plays or says why not.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { AGAINST_THREE, againstThree, OFTEN_AGAINST_THREE, ONLY_AGAINST_ONE } from './against-three.ts';
import { PROJECT_FOLDER } from './tidy/sources.ts';

const testsIn = (path: string): string[] =>
  path.endsWith('.test.ts')
    ? [path]
    : readdirSync(join(PROJECT_FOLDER, path), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => `${path}/${name}`);

const STARTS_SERVICES = /createRig\(|startStack\(|startFleet\(|instanceCount\(/;

t.test('each listed file exists', async (t) => {
  for (const path of [...AGAINST_THREE, ...OFTEN_AGAINST_THREE, ...Object.keys(ONLY_AGAINST_ONE)])
    t.ok(existsSync(join(PROJECT_FOLDER, path)), path);
});

t.test('a file that starts no service, or several by itself, does not play again', async (t) => {
  for (const file of againstThree(AGAINST_THREE.flatMap(testsIn), true))
    t.match(readFileSync(join(PROJECT_FOLDER, file), 'utf8'), STARTS_SERVICES, file);
});

t.test('npm test plays some of what test:long plays', async (t) => {
  const all = AGAINST_THREE.flatMap(testsIn);
  const often = againstThree(all, false);
  t.same(often.length, OFTEN_AGAINST_THREE.length);
  t.ok(often.every((file) => againstThree(all, true).includes(file)));
});
