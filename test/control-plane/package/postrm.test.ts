// A purge of the package, with dpkg's programs played: it deletes the state of the host, and keeps the keys.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const SCRIPT = join(PROJECT_FOLDER, 'control-plane/package/debian/postrm');

/** Runs the script on a host with these files. Returns its output, and the folder with `state` and `etc`. */
function purged(t: Test, files: readonly string[], { hasState = true } = {}) {
  const folder = temporaryFolder(t);
  for (const name of ['bin', 'etc', ...(hasState ? ['state', 'state/pglite'] : [])])
    mkdirSync(join(folder, name));
  for (const file of files) writeFileSync(join(folder, file), 'x');
  writeFileSync(join(folder, 'bin/deb-systemd-helper'), '#!/bin/sh\n', { mode: 0o755 });
  const text = readFileSync(SCRIPT, 'utf8')
    .replaceAll('/var/lib/simrack', join(folder, 'state'))
    .replaceAll('/etc/simrack', join(folder, 'etc'));
  const output = execFileSync('sh', ['-c', `exec 2>&1; ${text}`, 'postrm', 'purge'], {
    encoding: 'utf8',
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
  });
  return { folder, output };
}

t.test('keys in the folder of the service stay, and are named', async (t) => {
  const state = ['operator.sock', '.hidden', 'pglite/key', 'pin.key', 'receipt.key'];
  const { folder, output } = purged(t, [...state.map((name) => `state/${name}`), 'etc/relayer.key']);
  t.same(readdirSync(join(folder, 'state')).sort(), ['pin.key', 'receipt.key']);
  t.ok(existsSync(join(folder, 'etc/relayer.key')));
  for (const key of ['state/pin.key', 'state/receipt.key', 'etc/relayer.key'])
    t.match(output, join(folder, key));
  t.match(output, /Move the funds/);
});

t.test('without keys the folder goes, and nothing is reported', async (t) => {
  for (const files of [['state/operator.sock'], []]) {
    const { folder, output } = purged(t, files);
    t.notOk(existsSync(join(folder, 'state')));
    t.equal(output, '');
  }
  t.equal(purged(t, [], { hasState: false }).output, '', 'nor if it is gone');
});
