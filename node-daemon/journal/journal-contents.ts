// Reads a journal's file, also after a kill, a power cut or a broken disk.
import { createHash } from 'node:crypto';
import { link, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from './journal-disk.ts';
import { decodeRecord, type JournalRecord } from './record.ts';

/** The contents of a file when it was read. */
interface JournalContents {
  /** The records that count, in order. */
  readonly records: readonly JournalRecord[];
  /** Bytes of the good records before the first damage: the part to keep after a torn write. */
  readonly goodBytes: number;
  /**
   * `torn`: the damage is in the last write, which was never reported as durable. A kill leaves a part of a write, a power cut any of its
   * pages. Records after the damage do not count. `corrupt`: the damage is in data that was durable, which only a broken disk causes, or
   * nothing before it is good.
   */
  readonly damage: 'none' | 'torn' | 'corrupt';
}

/** Reads a journal's file; a missing one has no records. Rejects, with the path, when it cannot be read. */
export async function readJournal(path: string): Promise<JournalContents> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    // Unlike an error of open, an error of read does not include the path.
    throw new Error(`cannot read the journal ${path}: ${error.message}`, { cause: error });
  });
  return parseJournal(bytes);
}

/** The contents of a journal's bytes. */
export function parseJournal(bytes: Buffer): JournalContents {
  const before: JournalRecord[] = [];
  const behind: JournalRecord[] = [];
  const end = endOf(bytes);
  let goodBytes = 0;
  /** As far as the file itself says; older programs did not say it. */
  let durableBytes: number | undefined;
  let isDamaged = false;
  for (let start = 0; start < end; ) {
    if (bytes[start] === 0) {
      // A page that is missing; a line may begin behind it.
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

/** The file has room behind its records, of zeros. */
function endOf(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return end;
}

/**
 * Gives a damaged journal a second name in its folder, durably, and returns that path. The first name stays
 * until a new file takes it: there is a journal at every instant. The name follows from the contents, so that
 * a start that is tried again and again leaves one file.
 */
export async function keepAside(path: string): Promise<string> {
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
