// `control-plane backup -` and `restore -` in a pipe, as a shell runs them.
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { backedUp, relationsOf, rowsOf } from '../../fixtures/database/lived-database.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { PROJECT_FOLDER } from '../../tidy/sources.ts';

const TIMEOUT = { timeout: 380_000 };

const postgres = await openDatabases(t);

/** `control` is the program; the status is that of the first part of a pipe that failed. */
const shell = (line: string, env: Record<string, string>) =>
  new Promise<{ status: unknown; stdout: string; stderr: string }>((resolve) => {
    const program = `control() { "${process.execPath}" "${join(PROJECT_FOLDER, 'control-plane/bin.mjs')}" "$@"; }`;
    const whole = { env: { PATH: String(process.env['PATH']), ...env } };
    execFile(
      'bash',
      ['--norc', '-c', `set -o pipefail; ${program}; ${line}`],
      whole,
      (error, stdout, stderr) => resolve({ status: error === null ? 0 : error.code, stdout, stderr }),
    );
  });

const backupsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.includes('backup'));

t.test('a backup is piped into a restore, with its messages on standard error alone', TIMEOUT, async (t) => {
  const { url } = await backedUp(t, postgres, 2_000);
  const next = await postgres.createDatabase();
  const folder = temporaryFolder(t);
  const env = { DATABASE_URL: url, NEXT: next, TMPDIR: folder };
  const piped = await shell('control backup - | control restore - --database-url "$NEXT"', env);
  t.match(piped, {
    status: 0,
    stdout: /^restored \d+ rows of \d+ tables/,
    stderr: 'written to standard output; the copy was not verified\n',
  });
  const [was, is] = [
    await rowsOf({ url, connectionsMax: 1 }),
    await rowsOf({ url: next, connectionsMax: 1 }),
  ];
  for (const rows of [was, is]) rows.delete('kysely_migration');
  t.same(is, was);
  t.same(backupsIn(folder), [], 'its copy is gone');
});

t.test('a backup that is cut off on its way is not restored', TIMEOUT, async (t) => {
  const { url } = await backedUp(t, postgres, 2_000);
  const next = await postgres.createDatabase();
  const folder = temporaryFolder(t);
  const env = { DATABASE_URL: url, NEXT: next, TMPDIR: folder };
  const cut = 'control backup - 2>&1 | head -c 9000 | control restore - --database-url "$NEXT"';
  t.match(await shell(cut, env), {
    stdout: '',
    stderr: /standard input: it ends too early.*nothing was restored/,
  });
  t.equal(await relationsOf(next), 0);
  t.same(backupsIn(folder), []);
});

t.test('a reader that goes away: the backup fails', TIMEOUT, async (t) => {
  const { url } = await backedUp(t, postgres, 2_000);
  const broken = await shell('control backup - | true', { DATABASE_URL: url });
  t.match(broken, { status: 1, stderr: /^error: .*EPIPE/ });
});
