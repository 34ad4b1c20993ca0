// The lock on a folder: with a lock file where there are no abstract sockets.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { lockFolder } from '#shared/process/single-instance.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

for (const platform of ['linux', 'darwin'] as const)
  t.test(`on ${platform}, one at a time has a folder, and leaves nothing behind`, async (t) => {
    const parent = temporaryFolder(t);
    const lock = (program = 'probe') =>
      lockFolder(join(parent, 'data'), program, 0o700, 'the first', platform);
    const unlock = await lock();
    await t.rejects(lock(), { name: 'FolderInUseError', message: /data is in use by the first/ });
    await (await lock('another'))();
    t.same(readdirSync(join(parent, 'data')), [], 'a database wants an empty folder');
    await unlock();
    await (await lock())();
    t.same(readdirSync(parent), ['data']);
  });

t.test('a lock file of a process that was killed does not count', async (t) => {
  const parent = temporaryFolder(t);
  const lock = () => lockFolder(join(parent, 'data'), 'probe it', 0o700, undefined, 'darwin');
  const file = join(parent, 'data.probe_it.lock');
  const { pid } = spawnSync(process.execPath, ['--version']);
  for (const left of [`${pid} another probe`, '']) {
    writeFileSync(file, left);
    if (left === '') {
      const message = `in use by another probe it. If that is not so, remove ${file}`;
      await t.rejects(lock(), { name: 'FolderInUseError', message: new RegExp(message) }, 'being written');
      continue;
    }
    const unlock = await lock();
    await t.rejects(lock(), { name: 'FolderInUseError' });
    await unlock();
    t.same(readdirSync(parent), ['data']);
  }
});
