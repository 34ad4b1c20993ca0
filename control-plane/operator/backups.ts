// Backups as an operator makes and restores them: beside a running service or without it, to files and streams.
import { existsSync, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { systemClock } from '#shared/clock.ts';
import type { OptionsOf } from '#shared/process/options.ts';
import { onLines, onOneLine } from '#shared/process/terminal.ts';
import { saveBackup, withCopy } from '../backup/backup-file.ts';
import { BackupError } from '../backup/backup-format.ts';
import { type RowBatch, readBackup, type VerifiedBackup, verifyBackup } from '../backup/backup-reader.ts';
import { writeBackup } from '../backup/backup-writer.ts';
import { restoreDatabase } from '../backup/database-restore.ts';
import { type BackupKey, encrypted, needsPassphrase, type WriteBackup } from '../backup/encryption.ts';
import { accessText, type RestoredAccess } from '../backup/restored-access.ts';
import {
  askPassphrase,
  backupKeyOf,
  type KEY_OPTIONS,
  type LOCK_OPTIONS,
  lockOf,
} from '../backup/secret-files.ts';
import { OperatorRefusal } from '../domain/refusal.ts';
import { pinKeyFileOf } from '../pins/pin-vault.ts';
import { receiptKeyFileOf } from '../receipts/receipt-key.ts';
import {
  databasePlaceOf,
  embeddedFolder,
  isMade,
  type OpenDatabase,
  openAsItIs,
} from '../store/database/database.ts';
import { findRunningService, inTurn, type RunningService } from './operator-socket.ts';

/** In place of a file. */
const STANDARD = '-';

interface Place {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

/** With the files of keys that a backup does not contain. */
interface RestorePlace extends Place {
  readonly pinKeyFile: string | undefined;
  readonly receiptKeyFile: string | undefined;
}

export async function backUpTo(
  file: string,
  options: Place & { readonly encrypt: boolean } & OptionsOf<typeof LOCK_OPTIONS>,
): Promise<void> {
  const lock = await lockOf(options, options.encrypt);
  const write: WriteBackup = (out) => backUp(options, out);
  const plainOrNot = lock === undefined ? { write } : await encrypted(lock, write);
  if (file === STANDARD) return stream(plainOrNot.write);
  const saved = await saveBackup(file, plainOrNot.write, 'key' in plainOrNot ? plainOrNot.key : undefined);
  const how = lock === undefined ? '' : ', encrypted';
  process.stdout.write(`${file}: ${shown(saved)}, ${statSync(file).size} bytes${how}\n`);
}

export async function restoreFrom(
  file: string,
  options: RestorePlace & OptionsOf<typeof KEY_OPTIONS>,
): Promise<void> {
  const key = backupKeyOf(options);
  if (file === STANDARD)
    return withCopy(process.stdin, (copy) => restore(options, { file: copy, name: 'standard input', key }));
  return restore(options, { file, name: file, key: key ?? (await askedFor(file)) });
}

/** The restore verifies it: a stream cannot be read again here. */
async function stream(write: WriteBackup): Promise<void> {
  if (process.stdout.isTTY) throw new Error('a backup is binary: redirect it to a file or a program');
  await write(process.stdout);
  process.stderr.write('written to standard output; the copy was not verified\n');
}

/**
 * The passphrase that a person types at the terminal, for a file that needs one. Errors of the file itself are reported
 * when it is read.
 */
async function askedFor(file: string): Promise<BackupKey | undefined> {
  if (!process.stdin.isTTY || !(await needsPassphrase(file).catch(() => false))) return undefined;
  return { passphrase: await askPassphrase(`passphrase of ${file}: `) };
}

interface Source {
  readonly file: string;
  /** The name that messages use for it. */
  readonly name: string;
  readonly key: BackupKey | undefined;
}

async function restore(place: RestorePlace, source: Source): Promise<void> {
  const backup = await verified(source);
  const { db, close } = await inTurn(() => openAsItIs(databasePlaceOf(place, 1)), 0);
  let access: RestoredAccess;
  try {
    access = await restoreDatabase(db, backup.header, rowsOf(source));
  } finally {
    await close();
  }
  process.stdout.write(
    `restored ${shown(backup)}. It does not contain later changes: see docs/service/backup.md, "After a restore"\n${onLines(accessText(access))}\n${keyFilesText(place)}\n`,
  );
}

function keyFilesText(place: RestorePlace): string {
  const line = (name: string, file: string, without: string): string =>
    `${name}: ${file}${existsSync(file) ? '' : ` is missing: ${without}`}`;
  return [
    line('Key of the PINs', pinKeyFileOf(place), 'copy it here, or apply the fleet file again'),
    line('Key of the receipts', receiptKeyFileOf(place), 'copy it here, or the service makes a new one'),
  ].join('\n');
}

async function backUp(place: Place, out: Writable): Promise<void> {
  const opened = await inTurn(() => openSource(place));
  if ('backUp' in opened) return opened.backUp(out);
  const { db, close } = opened;
  try {
    await writeBackup(db, out, systemClock);
  } finally {
    await close();
  }
}

async function openSource(place: Place): Promise<OpenDatabase | Pick<RunningService, 'backUp'>> {
  if (place.databaseUrl === undefined) {
    const running = await findRunningService(place.dataDir);
    if (running !== undefined) return running;
    if (!isMade(embeddedFolder(place.dataDir)))
      throw new OperatorRefusal(
        `There is nothing to back up: DATABASE_URL is not set, and ${place.dataDir} has no database. Set DATABASE_URL or DATA_DIR, as the service has it.`,
      );
  }
  return openAsItIs(databasePlaceOf(place, 1));
}

async function verified({ file, name, key }: Source): Promise<VerifiedBackup> {
  try {
    return await verifyBackup(file, key);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    throw new BackupError(`${name}: ${error.message}; nothing was restored`);
  }
}

async function* rowsOf({ file, key }: Source): AsyncGenerator<RowBatch> {
  for await (const part of readBackup(file, key)) if ('rows' in part) yield part;
}

/** The file may come from anyone. */
const shown = ({ header: { created_at, migration, tables }, rows }: VerifiedBackup): string =>
  onOneLine(`${rows} rows of ${tables.length} tables as of ${created_at} (schema ${migration})`);
