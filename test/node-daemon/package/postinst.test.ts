// The output of the package at the end of its installation, with systemd's and dpkg's programs played.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../fixtures/stacks/started-stack.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const SCRIPT = join(PROJECT_FOLDER, 'node-daemon/package/debian/postinst');
const QUIET = [
  'systemd-sysusers',
  'dpkg-statoverride',
  'deb-systemd-helper',
  'deb-systemd-invoke',
  'udevadm',
  'install',
  'chown',
];

/** Runs the script on a host where the unit is in this state. */
function installed(t: Test, state: string, { before = '', isEnrolled = false } = {}): string {
  const folder = temporaryFolder(t);
  for (const name of ['bin', 'run', 'state']) mkdirSync(join(folder, name));
  if (isEnrolled) writeFileSync(join(folder, 'state/identity.json'), '{}');
  const put = (name: string, text: string): void =>
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const name of QUIET) put(name, 'exit 0');
  put(
    'systemctl',
    `case "$1" in is-active) echo ${state}; [ ${state} = active ];; show) echo '2 of 2 slots registered, not enrolled';; esac`,
  );
  const text = readFileSync(SCRIPT, 'utf8')
    .replace('/run/systemd/system', join(folder, 'run'))
    .replace('/var/lib/simrack-node', join(folder, 'state'));
  return execFileSync('sh', ['-c', text, 'postinst', 'configure', before], {
    encoding: 'utf8',
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
  });
}

t.test('a running daemon: its status, and the next step', async (t) => {
  const text = installed(t, 'active');
  t.match(text, 'The node daemon runs: 2 of 2 slots registered, not enrolled');
  t.match(text, 'node-daemon enroll <url> <code>');
  t.notMatch(installed(t, 'active', { isEnrolled: true }), /enroll </);
});

t.test('a daemon that does not start is not reported as running, and the log is named', async (t) => {
  for (const [state, before] of [
    ['activating', ''],
    ['failed', '0.1.0'],
    ['inactive', ''],
  ] as const) {
    const text = installed(t, state, { before });
    t.notMatch(text, /daemon runs/, state);
    t.match(text, `does NOT run (${state})`);
    t.match(text, /journalctl -u simrack-node-daemon.*\n.*systemctl restart simrack-node-daemon/);
  }
});
