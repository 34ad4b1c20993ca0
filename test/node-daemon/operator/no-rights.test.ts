// A user who is in no group of the daemon gets instructions to join it, whatever keeps the user out.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const UNPRIVILEGED = 65_534;
/** Group id from base-passwd, on every Debian. */
const DIALOUT = 20;
const ADVICE = 'use sudo, or join group dialout: sudo usermod -aG dialout $USER, then log in again';
const skip = process.getuid?.() === 0 ? false : 'only root can be another user';

/** Runs a tool as a user without groups. */
function unprivileged(...args: string[]): { status: number; stderr: string } {
  const user = [`--reuid=${UNPRIVILEGED}`, `--regid=${UNPRIVILEGED}`, '--clear-groups'];
  const program = [process.execPath, join(PROJECT_FOLDER, 'node-daemon/bin.cjs')];
  try {
    execFileSync('setpriv', [...user, ...program, ...args], {
      env: { PATH: process.env['PATH'] },
      stdio: 'pipe',
    });
    return { status: 0, stderr: '' };
  } catch (error) {
    const { status, stderr } = error as { status: number; stderr: Buffer };
    return { status, stderr: String(stderr) };
  }
}

function openFolder(t: Test): string {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  return folder;
}

t.test('a configuration for root and a group', { skip }, async (t) => {
  const config = join(openFolder(t), 'node.yaml');
  writeFileSync(config, '');
  chownSync(config, 0, DIALOUT);
  chmodSync(config, 0o640);
  const { status, stderr } = unprivileged('list', '--config', config);
  t.match(stderr, `error: you have no permission to read ${config}: ${ADVICE}`);
  t.equal(status, 4);
  const doctor = unprivileged('doctor', '--config', config);
  t.match(doctor.stderr, ADVICE, 'it is no fault of the file');
  t.equal(doctor.status, 3);
});

t.test('a socket in a folder of a group', { skip }, async (t) => {
  const folder = openFolder(t);
  const run = join(folder, 'run');
  mkdirSync(run);
  chownSync(run, 0, DIALOUT);
  chmodSync(run, 0o750);
  const config = join(folder, 'node.yaml');
  writeFileSync(config, `operator_socket: ${run}/node.sock\n`);
  chmodSync(config, 0o644);
  const { status, stderr } = unprivileged('at', '1-1', 'AT', '--config', config);
  t.match(stderr, `error: ${run}/node.sock: you have no permission to use it: ${ADVICE}`);
  t.equal(status, 4);
});

t.test('a data folder that is one user’s alone', { skip }, async (t) => {
  const folder = openFolder(t);
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  const { status, stderr } = unprivileged('list', '--data-dir', data);
  t.match(stderr, /use sudo, or run the command as the owner/);
  t.equal(status, 4);
});
