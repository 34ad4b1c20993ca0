// Reads the file of a journal, even after a kill, a power cut or a disk error.
import { createHash } from 'node:crypto';
import { link, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '#shared/process/sync-folder.ts';
import { decodeRecord, type JournalRecord } from './record.ts';

/** The contents of a file. */
interface JournalContents {
  /** The valid records, in order. */
  readonly records: readonly JournalRecord[];
  /** Length in bytes of the valid records before the first damage: the part to keep after a torn write. */
  readonly goodBytes: number;
  /**
   * `torn`: the damage is in the last write, which was never reported as durable. A kill leaves the beginning of a write, a power cut any
   * of its pages. Records after the damage do not count. `corrupt`: the damage is in durable data, which only a broken disk causes, or no
   * record before it is valid.
   */
  readonly damage: 'none' | 'torn' | 'corrupt';
}

/** Reads the file of a journal. A missing file has no records. Rejects with an error that includes the path if it cannot be read. */
export async function readJournal(path: string): Promise<JournalContents> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    // Errors of `open` include the path, errors of `read` do not.
    throw new Error(`cannot read the journal ${path}: ${error.message}`, { cause: error });
  });
  return parseJournal(bytes);
}

/** Returns the contents of a journal from its bytes. */
export function parseJournal(bytes: Buffer): JournalContents {
  const before: JournalRecord[] = [];
  const behind: JournalRecord[] = [];
  const end = endOf(bytes);
  let goodBytes = 0;
  /** Length of the durable data according to the file. */
  let durableBytes: number | undefined;
  let isDamaged = false;
  for (let start = 0; start < end; ) {
    if (bytes[start] === 0) {
      // A page is missing. A line may begin after it.
      isDamaged = true;
      start += 1;
      continue;
    }
    const lineEnd = bytes.indexOf(0x0a, start);
    const isWhole = lineEnd >= 0 && lineEnd < end;
    const record = isWhole ? decodeRecord(bytes.toString('utf8', start, lineEnd)) : undefined;
    start = isWhole ? lineEnd + 1 : end;
    if (record === undefined) isDamaged = true;
    else if (record.kind === 'synced') durableBytes = Math.max(durableBytes ?? 0, record.bytes);
    else (isDamaged ? behind : before).push(record);
    if (!isDamaged) goodBytes = start;
  }
  if (!isDamaged) return { records: before, goodBytes, damage: 'none' };
  const isTorn = behind.length === 0 || (durableBytes !== undefined && durableBytes <= goodBytes);
  if (isTorn && before.length > 0) return { records: before, goodBytes, damage: 'torn' };
  return { records: [...before, ...behind], goodBytes, damage: 'corrupt' };
}

/** The file has spare room after its records, filled with zeros. */
function endOf(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

/**
 * Gives a damaged journal a second name in its folder, durably, and returns that path. The first name stays
 * until a new file takes it, so there is a journal at every moment. The name depends on the contents, so that
 * repeated starts leave only one file.
 */
export async function keepDamaged(path: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  const aside = join(dirname(path), `journal.corrupt-${digest.slice(0, 16)}.log`);
  await link(path, aside).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await syncFolder(dirname(path));
  return aside;
}
