// Backups that are encrypted: with a passphrase and for recipients, opened by us and by the tools of age, and what does not open.
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { BackupError } from '#control-plane/backup/backup-format.ts';
import { verifyBackup } from '#control-plane/backup/backup-reader.ts';
import { encrypted } from '#control-plane/backup/encryption.ts';
import { backedUp, relationsOf, rowsOf } from '../../fixtures/database/lived-database.ts';
import { openDatabases } from '../../fixtures/database/postgres.ts';
import { PYTHON } from '../../fixtures/foreign-program.ts';
import { runCommand } from '../../fixtures/run-command.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';

const TIMEOUT = { timeout: 380_000 };
const PASSPHRASE = 'correct horse battery staple';

const postgres = await openDatabases(t);

const control = (args: string[], env: Record<string, string> = {}) => runCommand(args, env);

/** Files of one who keeps backups: a passphrase, and a pair of age's own keys. */
function keys(t: Test) {
  const folder = temporaryFolder(t);
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, `${PASSPHRASE}\n`);
  const pair = (name: string) => {
    const identityFile = join(folder, name);
    execFileSync('age-keygen', ['-o', identityFile], { stdio: 'ignore' });
    return { identityFile, recipient: execFileSync('age-keygen', ['-y', identityFile]).toString().trim() };
  };
  return { folder, passphraseFile, mine: pair('mine'), other: pair('other') };
}

async function isSame(t: Test, url: string, restored: string): Promise<void> {
  const [was, is] = [
    await rowsOf({ url, connectionsMax: 1 }),
    await rowsOf({ url: restored, connectionsMax: 1 }),
  ];
  for (const rows of [was, is]) rows.delete('kysely_migration');
  t.same(is, was);
}

const mistyped = (recipient: string): string =>
  recipient.slice(0, -1) + (recipient.endsWith('q') ? 'p' : 'q');

/** With a terminal of its own: age asks for a passphrase on nothing else. */
const IN_TERMINAL = `
import os, pty, sys, time
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[2], sys.argv[2:])
said, answers = b'', int(sys.argv[1])
while True:
    try: chunk = os.read(terminal, 4096)
    except OSError: break
    if not chunk: break
    said += chunk
    if answers > 0 and b':' in said:
        said, answers = b'', answers - 1
        os.write(terminal, (os.environ['TYPED'] + '\\r').encode())
sys.stderr.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;
const inTerminal = (answers: number, command: string[], env: Record<string, string> = {}) => {
  const { status, stderr } = spawnSync(PYTHON, ['-c', IN_TERMINAL, String(answers), ...command], {
    env: { PATH: String(process.env['PATH']), TYPED: PASSPHRASE, ...env },
  });
  return { status, said: String(stderr) };
};

t.test(
  'with a passphrase, asked for on a terminal: our own restore, and age itself, both ways',
  TIMEOUT,
  async (t) => {
    const { url, file: plainFile } = await backedUp(t, postgres, 500);
    const { folder, passphraseFile } = keys(t);
    const file = join(folder, 'lab.backup.age');
    const program = [process.execPath, join(process.cwd(), 'control-plane/bin.mjs')];
    const saved = inTerminal(2, [...program, 'backup', file, '--encrypt'], { DATABASE_URL: url });
    t.match(saved, { status: 0, said: /\d+ rows .* bytes, encrypted\s*$/ });
    t.notMatch(saved.said, PASSPHRASE, 'it is not shown');
    t.equal(statSync(file).mode & 0o777, 0o600);
    const bytes = readFileSync(file);
    t.match(bytes.subarray(0, 22).toString(), 'age-encryption.org/v1\n');
    // All of a header: random bytes of this length hold its first three once in 500 runs.
    t.notOk(bytes.includes(readFileSync(plainFile).subarray(0, 10)), 'no gzip in it');
    const next = await postgres.createDatabase();
    const restored = inTerminal(1, [...program, 'restore', file], { DATABASE_URL: next });
    t.match(restored, { status: 0, said: /restored \d+ rows/ });
    await isSame(t, url, next);

    const opened = join(folder, 'opened');
    t.match(inTerminal(1, ['age', '--decrypt', '--output', opened, file]), { status: 0 });
    t.match(gunzipSync(readFileSync(opened)).toString().slice(0, 60), /^\{"format":"simrack-backup"/);
    const theirs = join(folder, 'theirs.age');
    t.match(inTerminal(2, ['age', '--passphrase', '--output', theirs, plainFile]), { status: 0 });
    const again = await postgres.createDatabase();
    t.match(
      await control(['restore', theirs, '--passphrase-file', passphraseFile], { DATABASE_URL: again }),
      {
        status: 0,
      },
    );
    await isSame(t, url, again);
  },
);

t.test('for recipients: each of them opens it, here and with age, also through pipes', TIMEOUT, async (t) => {
  const { url } = await backedUp(t, postgres, 500);
  const { folder, mine, other } = keys(t);
  const file = join(folder, 'lab.backup.age');
  const recipientsFile = join(folder, 'recipients');
  writeFileSync(recipientsFile, `# the safe\n${other.recipient}\n\n`);
  const saved = await control(
    ['backup', file, '--encrypt', '--recipient', mine.recipient, '--recipients-file', recipientsFile],
    { DATABASE_URL: url },
  );
  t.match(saved, { status: 0, stdout: /encrypted\n$/ });
  for (const { identityFile } of [mine, other]) {
    const opened = execFileSync('age', ['--decrypt', '--identity', identityFile, file], { maxBuffer: 1e9 });
    t.match(gunzipSync(opened).toString().slice(0, 60), /^\{"format":"simrack-backup"/);
    const next = await postgres.createDatabase();
    t.match(await control(['restore', file, '--identity-file', identityFile], { DATABASE_URL: next }), {
      status: 0,
    });
    await isSame(t, url, next);
  }
  const program = `control() { "${process.execPath}" control-plane/bin.mjs "$@"; }`;
  const next = await postgres.createDatabase();
  const pipe = `control backup - | control restore - --database-url "$NEXT" --identity-file "$IDENTITY"`;
  const piped = spawnSync('bash', ['-c', `set -o pipefail; ${program}; ${pipe}`], {
    env: {
      PATH: String(process.env['PATH']),
      DATABASE_URL: url,
      NEXT: next,
      BACKUP_RECIPIENT: mine.recipient,
      IDENTITY: mine.identityFile,
      TMPDIR: folder,
    },
  });
  t.equal(piped.status, 0, String(piped.stderr));
  await isSame(t, url, next);
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('simrack-')),
    [],
    'no copy is left',
  );
});

t.test('a backup that cannot be decrypted restores nothing, and says why', TIMEOUT, async (t) => {
  const { url, file: plain } = await backedUp(t, postgres, 500);
  const { folder, passphraseFile, mine, other } = keys(t);
  const [withPassphrase, forMine] = [join(folder, 'p.age'), join(folder, 'r.age')];
  const from = { DATABASE_URL: url };
  t.equal((await control(['backup', withPassphrase, '--passphrase-file', passphraseFile], from)).status, 0);
  t.equal((await control(['backup', forMine, '--recipient', mine.recipient], from)).status, 0);
  const whole = readFileSync(forMine);
  const cut = join(folder, 'cut.age');
  const armored = join(folder, 'armored.age');
  writeFileSync(armored, execFileSync('age', ['--armor', '--recipient', mine.recipient, plain]));
  const empty = join(folder, 'empty');
  writeFileSync(empty, '');
  const next = await postgres.createDatabase();
  const refused = async (args: string[], problem: RegExp, env: Record<string, string> = {}) => {
    const ran = await control(['restore', ...args], { DATABASE_URL: next, ...env });
    t.match(ran, { status: 2, stdout: '', stderr: problem }, `${args.join(' ')}: ${ran.stderr}`);
    t.notMatch(ran.stderr, /\n +at /, 'no stack');
  };
  const identity = ['--identity-file', mine.identityFile];
  await refused([withPassphrase], /the passphrase is wrong; nothing was restored/, {
    BACKUP_PASSPHRASE: 'incorrect horse',
  });
  await refused(
    [forMine, '--identity-file', other.identityFile],
    /none of the identities can decrypt it; nothing/,
  );
  await refused([withPassphrase], /it is encrypted: give --passphrase-file; nothing was restored/);
  await refused([forMine], /it is encrypted: give --identity-file; nothing was restored/);
  await refused([withPassphrase, ...identity], /encrypted with a passphrase: give --passphrase-file/);
  await refused([forMine, '--passphrase-file', passphraseFile], /for a recipient: give --identity-file/);
  await refused([plain, ...identity], /it is not encrypted/);
  await refused([armored, ...identity], /ASCII armor/);
  await refused([forMine, ...identity, '--passphrase-file', passphraseFile], /not both/);
  await refused([forMine, '--identity-file', passphraseFile], /AGE-SECRET-KEY-1/);
  await refused([forMine, '--passphrase-file', empty], /The passphrase is empty/);
  await refused([join(folder, 'none'), ...identity], /the file does not exist; nothing was restored/);
  for (const length of [100, Math.floor(whole.length / 2)]) {
    writeFileSync(cut, whole.subarray(0, length));
    await refused([cut, ...identity], /; nothing was restored/);
  }
  t.equal(await relationsOf(next), 0, 'as empty as it was');
  const key = { identities: [readFileSync(mine.identityFile, 'utf8').split('\n')[2] ?? ''] };
  for (let at = 30; at < whole.length; at += Math.ceil(whole.length / 20)) {
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    writeFileSync(cut, flipped);
    await t.rejects(verifyBackup(cut, key), BackupError, `flipped at ${at}`);
  }
  for (const length of [0, 5, 10, 22, 150, 200, 300, whole.length - 17, whole.length - 1]) {
    writeFileSync(cut, whole.subarray(0, length));
    await t.rejects(verifyBackup(cut, key), BackupError, `cut at ${length}`);
  }
  writeFileSync(cut, `age-encryption.org/v1\n${'x'.repeat(200_000)}`);
  await t.rejects(verifyBackup(cut, key), BackupError, 'a header without end');
});

t.test('a backup that cannot be encrypted is not written at all', TIMEOUT, async (t) => {
  const { url } = await backedUp(t, postgres, 10);
  const { folder, passphraseFile, mine } = keys(t);
  const file = join(folder, 'lab.backup');
  const short = join(folder, 'short');
  writeFileSync(short, 'hunter2\n');
  const refused = async (args: string[], problem: RegExp, env: Record<string, string> = {}, status = 2) => {
    const ran = await control(['backup', file, ...args], { DATABASE_URL: url, ...env });
    t.match(ran, { status, stdout: '', stderr: problem }, ran.stderr);
    return ran;
  };
  await refused(['--encrypt'], /No passphrase. Give --passphrase-file/);
  await refused(['--passphrase-file', short], /8 characters/);
  await refused(
    ['--passphrase-file', join(folder, 'none')],
    /--passphrase-file: the file does not exist/,
    {},
    1,
  );
  await refused(['--recipient', mine.recipient, '--passphrase-file', passphraseFile], /not both/);
  await refused(['--recipient', 'ssh-ed25519 AAAA'], /Recipient 1 is not an age public key/);
  await refused(['--recipient', mistyped(mine.recipient)], /Recipient 1 is not an age public key/);
  const secret = readFileSync(mine.identityFile, 'utf8').split('\n')[2] ?? '';
  t.notMatch(
    (await refused(['--recipient', secret], /not an age public key/)).stderr,
    secret,
    'a secret is not shown',
  );
  await refused([], /Give only one of/, {
    BACKUP_PASSPHRASE: PASSPHRASE,
    BACKUP_PASSPHRASE_FILE: passphraseFile,
  });
  await refused(['--passphrase', PASSPHRASE], /unknown option|too many arguments/, {}, 1);
  t.notOk(readdirSync(folder).some((name) => name.includes('backup')));
  t.notMatch((await control(['backup', '--help'])).stdout, /--passphrase </, 'no flag takes it');
});

t.test('only a few pieces wait for a slow reader', async (t) => {
  let made = 0;
  let taken = 0;
  let aheadMax = 0;
  const piece = Buffer.alloc(64 * 1024, 1);
  const source = async function* () {
    for (let left = 400; left > 0; left -= 1) {
      made += piece.length;
      aheadMax = Math.max(aheadMax, made - taken);
      yield piece;
    }
  };
  const { write } = await encrypted({ recipients: [keys(t).mine.recipient] }, (out) =>
    pipeline(Readable.from(source()), out),
  );
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      setImmediate(done);
    },
  });
  await write(sink);
  t.ok(taken > made, 'all of it, and the header');
  t.ok(aheadMax < 2 * 1024 * 1024, `${aheadMax} bytes were ahead`);
});

t.test('a disk that refuses: its own error, and the writer is released', async (t) => {
  const { write } = await encrypted({ recipients: [keys(t).mine.recipient] }, async (out) => {
    await pipeline(Readable.from([Buffer.alloc(1_000_000)]), out);
  });
  const full = new PassThrough();
  full._write = (_chunk, _encoding, done) => done(Object.assign(new Error('no room'), { code: 'ENOSPC' }));
  await t.rejects(write(full), { code: 'ENOSPC' });
});
