// The output of the package at the end of its installation, with systemd's and dpkg's programs played.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const PACKAGE = join(PROJECT_FOLDER, 'control-plane/package');
const QUIET = ['systemd-sysusers', 'dpkg-statoverride', 'deb-systemd-helper', 'install', 'chown'];

/** Runs the script on a host where the unit is in this state. Returns its output, with a line for each request to systemd. */
function installed(t: Test, state: string, { before = '', isConfigured = true } = {}): string {
  const folder = temporaryFolder(t);
  for (const name of ['bin', 'run']) mkdirSync(join(folder, name));
  const config = readFileSync(join(PACKAGE, 'control-plane.env'), 'utf8');
  writeFileSync(join(folder, 'env'), isConfigured ? config.replace('#DATABASE_URL', 'DATABASE_URL') : config);
  const put = (name: string, text: string): void =>
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const name of QUIET) put(name, 'exit 0');
  put('deb-systemd-invoke', `echo "systemd: $1" >&2`);
  put(
    'systemctl',
    `case "$1" in is-active) echo ${state}; [ ${state} = active ];; show) echo 'serves https://sms.example.com';; esac`,
  );
  const text = readFileSync(join(PACKAGE, 'debian/postinst'), 'utf8')
    .replace('/run/systemd/system', join(folder, 'run'))
    .replace('/etc/simrack/control-plane.env', join(folder, 'env'));
  return execFileSync('sh', ['-c', `exec 2>&1; ${text}`, 'postinst', 'configure', before], {
    encoding: 'utf8',
    env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
  });
}

t.test('without a database: the next steps, and no start that must fail', async (t) => {
  const text = installed(t, 'inactive', { isConfigured: false });
  t.match(
    text,
    /1\. .*\n {2}2\. .*simrack-control-plane check\n {2}3\. .*systemctl start simrack-control-plane/,
  );
  t.notMatch(text, /systemd: (start|restart)|NOT run/);
});

t.test('a service that runs: what it serves', async (t) => {
  const text = installed(t, 'active');
  t.match(text, 'The control plane runs: serves https://sms.example.com');
  t.match(text, 'systemd: start');
  t.match(installed(t, 'active', { before: '0.1.0' }), 'systemd: restart');
});

t.test(
  'a service that does not start is not reported as running: the log, the repair, the former version',
  async (t) => {
    for (const [state, before] of [
      ['activating', ''],
      ['failed', '0.1.0'],
    ] as const) {
      const text = installed(t, state, { before });
      t.notMatch(text, /plane runs/, state);
      t.match(text, `does NOT run (${state})`);
      t.match(text, /journalctl -u simrack-control-plane.*\n.*systemctl restart simrack-control-plane/);
      t.equal(/--allow-downgrades \.\/simrack-control-plane_0\.1\.0_all\.deb/.test(text), before !== '');
    }
  },
);
