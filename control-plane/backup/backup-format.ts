// The format of a backup: gzip of a JSON header line, the rows of each table, one a line and an empty line after the last, and a trailer
// line with a digest of everything before it.
import * as z from 'zod';
import { jsonOf } from '#shared/json.ts';

const FORMAT = 'simrack-backup';
const VERSION = 1;

const name = z.string().min(1).max(200);
const tableSchema = z.object({
  name,
  columns: z.array(name).min(1),
});

const headerSchema = z.object({
  format: z.literal(FORMAT),
  version: z.number().int().positive(),
  created_at: z.iso.datetime(),
  /** The newest migration of the source database. */
  migration: name,
  /** In the order of their rows. */
  tables: z.array(tableSchema),
  /** Counters; `last` is an integer as text. */
  sequences: z.array(
    z.object({ table: name, column: name, last: z.string().regex(/^\d{1,19}$/), is_called: z.boolean() }),
  ),
});

const trailerSchema = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) });

export type BackupHeader = z.output<typeof headerSchema>;

/** The contents of a snapshot of the database, as the store returns them. */
export type Contents = Omit<BackupHeader, 'format' | 'version' | 'created_at'>;

/** The file is not a backup, is damaged, or has an unknown version: the message says which. */
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
  const written = jsonOf(line);
  const { format, version } = (written ?? {}) as { format?: unknown; version?: unknown };
  if (format !== FORMAT)
    throw new BackupError('the file is not a backup of Simrack, or its beginning is damaged');
  if (typeof version === 'number' && version > VERSION)
    throw new BackupError(
      `a newer version of Simrack wrote the file (format ${version}): restore it with that version`,
    );
  const checked = headerSchema.safeParse(written);
  if (!checked.success) throw new BackupError('its first line is damaged');
  return checked.data;
}

export const trailerOf = (sha256: string): string => JSON.stringify({ sha256 });

/** Throws unless the last line is the trailer of a complete backup with this digest. */
export function checkTrailer(line: string, sha256: string): void {
  const checked = trailerSchema.safeParse(jsonOf(line));
  if (!checked.success || checked.data.sha256 !== sha256)
    throw new BackupError('it is damaged: its contents do not match its digest');
}
