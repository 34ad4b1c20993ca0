// Backups that are cut, damaged or of another time, and disks that are full: refused in words, before anything is changed.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { saveBackup } from '#control-plane/backup/backup-file.ts';
import { BackupError } from '#control-plane/backup/backup-format.ts';
import { verifyBackup } from '#control-plane/backup/backup-reader.ts';
import { writeBackup } from '#control-plane/backup/backup-writer.ts';
import { systemClock } from '#shared/clock.ts';
import { backedUp, relationsOf } from '../../fixtures/database/lived-database.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { runProgram } from '../../fixtures/run-program.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const TIMEOUT = { timeout: 380_000 };
/** Checksum and length at the end of gzip. */
const TRAILER_BYTES = 8;

const postgres = await openDatabases(t);
const restore = (file: string, databaseUrl: string) =>
  runCommand(['restore', file], { DATABASE_URL: databaseUrl });

t.test('cut or flipped anywhere: refused before anything is restored', TIMEOUT, async (t) => {
  const { file } = await backedUp(t, postgres, 500);
  const whole = readFileSync(file);
  const other = `${file}.other`;
  const refused = async (bytes: Uint8Array, what: string): Promise<void> => {
    writeFileSync(other, bytes);
    await t.rejects(verifyBackup(other), BackupError, what);
  };
  const step = Math.ceil(whole.length / 60);
  for (let at = 0; at < whole.length; at += step) await refused(whole.subarray(0, at), `cut at ${at}`);
  await refused(whole.subarray(0, -1), 'cut by one byte');
  // The time and the system in the header of gzip mean nothing, nor do the bits that fill the last byte before its trailer.
  const filled = whole.length - TRAILER_BYTES - 1;
  for (let at = 10; at < whole.length; at += step) {
    if (at === filled) continue;
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << (at % 8)), at);
    await refused(flipped, `flipped at ${at}`);
  }
  const lines = gunzipSync(whole).toString().split('\n');
  const [header = '', ...rest] = lines;
  const row = rest.findIndex((line) => line.includes('d')) + 1;
  const again = (...written: string[]) => gzipSync(written.join('\n'));
  await refused(again(...lines.with(row, String(lines[row]).replace('d', 'e'))), 'a row that is another one');
  await refused(again(...lines.toSpliced(row, 1)), 'a row that is gone');
  await refused(again(header, ...rest.slice(1)), 'an empty table that is gone');
  await refused(again(...lines, 'more'), 'more after its end');
  await refused(again('{"not": "ours"}'), 'not ours');
  await refused(Buffer.from('a text'), 'no gzip');
  await refused(gzipSync(''), 'empty');
});

t.test('a backup of a newer program, or of another one, is refused with the reason', TIMEOUT, async (t) => {
  const { file } = await backedUp(t, postgres, 10);
  const text = gunzipSync(readFileSync(file)).toString();
  const folder = temporaryFolder(t);
  const databaseUrl = await postgres.createDatabase();
  const changed = async (from: string | RegExp, to: string, problem: RegExp): Promise<void> => {
    const other = join(folder, 'other');
    const body = text.replace(from, to).split('\n').slice(0, -2).join('\n');
    const { createHash } = await import('node:crypto');
    const sha256 = createHash('sha256').update(`${body}\n`).digest('hex');
    writeFileSync(other, gzipSync(`${body}\n${JSON.stringify({ sha256 })}\n`));
    t.match(await restore(other, databaseUrl), { status: 2, stdout: '', stderr: problem });
    t.equal(await relationsOf(databaseUrl), 0, 'it is as empty as it was');
  };
  await changed(
    '"version":1',
    '"version":2',
    /a newer version of Simrack wrote the file \(format 2\).*nothing was restored/,
  );
  await changed(/"migration":"[^"]+"/, '"migration":"9999-later"', /schema 9999-later.*a newer one/);
  await changed('"name":"nonces"', '"name":"guests"', /tables that do not belong to Simrack: guests/);
});

t.test('a disk that is full: no file, and it says so', TIMEOUT, async (t) => {
  const { db } = await backedUp(t, postgres, 20_000);
  const folder = join(temporaryFolder(t), 'disk');
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=65536', 'tmpfs', folder]);
  t.teardown(() => execFileSync('umount', [folder]));
  const file = join(folder, 'lab.backup');
  await t.rejects(
    saveBackup(file, (out) => writeBackup(db, out, systemClock)),
    { code: 'ENOSPC' },
  );
  t.same(readdirSync(folder), []);
});

t.test(
  'a restore onto a full disk: it says so, and leaves what can be restored again',
  TIMEOUT,
  async (t) => {
    const { file } = await backedUp(t, postgres, 100);
    const folder = join(temporaryFolder(t), 'disk');
    mkdirSync(folder);
    const mount = (options: string) => execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
    mount('size=20M');
    t.teardown(() => execFileSync('umount', [folder]));
    const dataDir = join(folder, 'data');
    const again = () => runProgram('control-plane', ['restore', file], { DATA_DIR: dataDir });
    t.match(await again(), { status: 1, stdout: '', stderr: /cannot be opened: the disk is full/ });
    // The files that a kill leaves.
    mkdirSync(join(dataDir, 'pglite.new'));
    writeFileSync(join(dataDir, 'pglite.new', 'PG_VERSION'), '');
    mount('remount,size=200M');
    t.match(await again(), { status: 0, stdout: /^restored \d+ rows/ });
    t.same(readdirSync(dataDir), ['pglite']);
    t.equal(statSync(join(dataDir, 'pglite')).mode & 0o777, 0o700);
    t.match(await restore(dataDir, await postgres.createDatabase()), { status: 2, stderr: /it is a folder/ });
  },
);

t.test('a reader that sleeps does not hold the database for ever', TIMEOUT, async (t) => {
  const { db } = await backedUp(t, postgres, 50_000);
  await t.rejects(
    writeBackup(db, new PassThrough(), systemClock),
    /the reader of the output stalled for 10 s/,
  );
});
