// `control-plane backup <file>` and `restore <file>`: all that the service keeps, to a file and back.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { programCommand } from '#shared/process/commands.ts';
import { FolderInUseError } from '#shared/process/single-instance.ts';
import { saveBackup, withCopy } from '../backup/backup-file.ts';
import { BackupError, type BackupHeader } from '../backup/backup-format.ts';
import { type RowBatch, readBackup, verifyBackup } from '../backup/backup-reader.ts';
import { writeBackup } from '../backup/backup-writer.ts';
import { OPTIONS } from '../config.ts';
import { OperatorRefusal } from '../domain/operator-refusal.ts';
import { type DatabasePlace, isMade, type OpenDatabase, openAsItIs } from '../store/database.ts';
import { restoreDatabase } from '../store/database-restore.ts';
import { inTurn } from './in-turn.ts';
import { connectOperator, type RunningOperator } from './operator-socket.ts';

const { databaseUrl, dataDir } = OPTIONS;
const PLACE = { databaseUrl, dataDir };

/** In place of a file. */
const STANDARD = '-';

interface Place {
  readonly databaseUrl: string | undefined;
  readonly dataDir: string;
}

export const BACKUP_COMMANDS = [
  programCommand({
    usage: 'backup <file>',
    about:
      'writes all that the service keeps into one file, beside the running service or without it; - is standard output',
    options: PLACE,
    run: async (place, [file = '']) => {
      if (file === STANDARD) return stream(place);
      const header = await saveBackup(file, (out) => backUp(place, out));
      process.stdout.write(`${file}: ${shown(header)}, ${statSync(file).size} bytes\n`);
    },
  }),
  programCommand({
    usage: 'restore <file>',
    about: 'fills a new, empty database from a backup; no service may run on it; - is standard input',
    options: PLACE,
    run: (place, [file = '']) =>
      file === STANDARD
        ? withCopy(process.stdin, (copy) => restore(place, copy, 'standard input'))
        : restore(place, file),
  }),
];

/** It is read again by whoever restores it: a stream cannot be. */
async function stream(place: Place): Promise<void> {
  if (process.stdout.isTTY) throw new Error('a backup is nothing to look at: send it to a file or a program');
  await backUp(place, process.stdout);
  process.stderr.write('written to standard output, and not read again\n');
}

async function restore(place: Place, file: string, name = file): Promise<void> {
  const header = await verified(file, name);
  const { db, close } = await refusedInUse(() => openAsItIs(placeOf(place)));
  try {
    await restoreDatabase(db, header, rowsOf(file));
  } finally {
    await close();
  }
  process.stdout.write(`restored ${shown(header)}: what came later is not in it, see "Backup and restore"\n`);
}

async function backUp(place: Place, out: Writable): Promise<void> {
  const opened = await refusedInUse(() => inTurn(() => openSource(place)));
  if ('backUp' in opened) return opened.backUp(out);
  const { db, close } = opened;
  try {
    await writeBackup(db, out, new Date());
  } finally {
    await close();
  }
}

async function openSource(place: Place): Promise<OpenDatabase | Pick<RunningOperator, 'backUp'>> {
  if (place.databaseUrl === undefined) {
    const running = await connectOperator(place.dataDir);
    if (running !== undefined) return running;
    if (!isMade(embedded(place.dataDir)))
      throw new OperatorRefusal(
        `there is nothing to back up: no database in ${place.dataDir}, and no DATABASE_URL`,
      );
  }
  return openAsItIs(placeOf(place));
}

const embedded = (dataDir: string): string => join(dataDir, 'pglite');

const placeOf = ({ databaseUrl, dataDir }: Place): DatabasePlace =>
  databaseUrl === undefined ? { folder: embedded(dataDir) } : { url: databaseUrl, connectionsMax: 1 };

async function refusedInUse<T>(open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!(error instanceof FolderInUseError)) throw error;
    throw new OperatorRefusal(`${error.message}: stop it first`);
  }
}

async function verified(file: string, name: string): Promise<BackupHeader> {
  try {
    return await verifyBackup(file);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    throw new BackupError(`${name}: ${error.message}; nothing was restored`);
  }
}

async function* rowsOf(file: string): AsyncGenerator<RowBatch> {
  for await (const part of readBackup(file)) if ('rows' in part) yield part;
}

const shown = ({ created_at, migration, tables }: BackupHeader): string =>
  `${tables.reduce((sum, { rows }) => sum + rows, 0)} rows of ${tables.length} tables as of ${created_at} (schema ${migration})`;
