// The output of the package at the end of its installation, with systemd's and dpkg's programs played.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
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

/** Runs the script on a host where the unit is in this state. Each query of its status gets the next of `statuses`, then the last. */
function installed(
  t: Test,
  state: string,
  { before = '', isEnrolled = false, statuses = ['2 of 2 slots registered, not enrolled'] } = {},
): string {
  const folder = temporaryFolder(t);
  for (const name of ['bin', 'run', 'state']) mkdirSync(join(folder, name));
  if (isEnrolled) writeFileSync(join(folder, 'state/identity.json'), '{}');
  const put = (name: string, text: string): void =>
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const name of QUIET) put(name, 'exit 0');
  put(
    'systemctl',
    `case "$1" in
is-active) [ "$2" = --quiet ] || echo ${state}; [ ${state} = active ];;
show) cd ${folder}; head -n 1 statuses; [ "$(wc -l <statuses)" = 1 ] || sed -i 1d statuses;;
esac`,
  );
  writeFileSync(join(folder, 'statuses'), statuses.map((status) => `${status}\n`).join(''));
  put('sleep', `echo "slept $1 s"`);
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

t.test('an upgrade waits until as many modems are back as before, and then reports them', async (t) => {
  const statuses = [
    '2 of 3 slots registered, linked',
    '0 of 3 slots registered, connecting',
    '1 of 3 slots registered, linked',
  ];
  const text = installed(t, 'active', {
    before: '0.1.0',
    statuses: [...statuses, '2 of 3 slots registered, linked, 1 call up'],
  });
  t.equal(text.match(/slept 1 s/g)?.length, 2);
  t.match(text, /slept 1 s\nThe node daemon runs: 2 of 3 slots registered, linked, 1 call up\n/);
});

t.test('an upgrade waits 30 s at most, and reports the modems as they are', async (t) => {
  const statuses = [
    'stopping after the last call, 2 of 2 slots registered, linked',
    '0 of 2 slots registered, linked',
  ];
  const text = installed(t, 'active', { before: '0.1.0', statuses });
  t.equal(text.match(/slept 1 s/g)?.length, 30);
  t.match(text, 'The node daemon runs: 0 of 2 slots registered, linked');
});

t.test('an upgrade where no modem was registered, and a first installation, wait for none', async (t) => {
  const statuses = ['0 of 1 slot registered, linked'];
  t.notMatch(installed(t, 'active', { before: '0.1.0', statuses }), 'slept');
  t.notMatch(installed(t, 'active', { statuses }), 'slept');
  t.notMatch(installed(t, 'failed', { before: '0.1.0', statuses: ['2 of 2 slots registered', ''] }), 'slept');
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
