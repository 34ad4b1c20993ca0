// The form of a backup: gzip; a line of JSON that says what it holds, a line a row, and a line that proves all before it.
import * as z from 'zod';

const FORMAT = 'simrack-backup';
const VERSION = 1;

const name = z.string().min(1).max(200);
const tableSchema = z.object({
  name,
  columns: z.array(name).min(1),
  /** How many lines are of it; tables come in the order of this list. */
  rows: z.number().int().nonnegative(),
});

const headerSchema = z.object({
  format: z.literal(FORMAT),
  version: z.number().int().positive(),
  created_at: z.iso.datetime(),
  /** The newest migration of the database that it was made of. */
  migration: name,
  tables: z.array(tableSchema),
  /** What counts up; `last` is a whole number as text. */
  sequences: z.array(
    z.object({ table: name, column: name, last: z.string().regex(/^\d{1,19}$/), is_called: z.boolean() }),
  ),
});

const trailerSchema = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) });

export type BackupHeader = z.output<typeof headerSchema>;

/** What a snapshot of a database holds, as the store tells it. */
export type Contents = Omit<BackupHeader, 'format' | 'version' | 'created_at'>;

/** The file is no backup, is damaged, or is of a version that is not known here: the message says which. */
export class BackupError extends Error {
  override name = 'BackupError';
  readonly exitCode = 2;
}

export const headerOf = (contents: Contents, now: Date): BackupHeader => ({
  format: FORMAT,
  version: VERSION,
  created_at: now.toISOString(),
  ...contents,
});

export function readHeader(line: string): BackupHeader {
  const written = parsed(line);
  const { format, version } = (written ?? {}) as { format?: unknown; version?: unknown };
  if (format !== FORMAT) throw new BackupError('this is no backup of Simrack, or its beginning is damaged');
  if (typeof version === 'number' && version > VERSION)
    throw new BackupError(`a newer Simrack wrote it (format ${version}): restore it with that one`);
  const checked = headerSchema.safeParse(written);
  if (!checked.success) throw new BackupError('its first line is damaged');
  return checked.data;
}

export const trailerOf = (sha256: string): string => JSON.stringify({ sha256 });

/** Throws where the last line is not that of a whole backup with this digest. */
export function checkTrailer(line: string, sha256: string): void {
  const checked = trailerSchema.safeParse(parsed(line));
  if (!checked.success || checked.data.sha256 !== sha256)
    throw new BackupError('it is damaged: what is in it is not what was written');
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
