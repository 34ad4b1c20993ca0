// Removes texts that are no longer needed: from the journal before its compaction, from incomplete copies, and from damaged journals that
// were kept.
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadonlyJournalState } from './journal-state.ts';
import type { JournalRecord } from './record.ts';

/** Suffixes of new journal files: one written while appends continue, one written instead of them. */
export const COMPACT_SUFFIX = 'compact';
export const NEW_SUFFIX = 'new';

/** The operator has this time to examine a damaged journal. */
export const DAMAGED_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const DAMAGED = /^journal\.corrupt-[0-9a-f]+\.log$/;

/** Removes incomplete copies. No compaction may run meanwhile. Never rejects. */
export async function removeIncomplete(path: string): Promise<void> {
  for (const suffix of [COMPACT_SUFFIX, NEW_SUFFIX]) await unlink(`${path}.${suffix}`).catch(() => undefined);
}

/** Removes damaged journals whose time is over. Resolves with whether others remain. Never rejects. */
export async function removeOldDamaged(folder: string, now: number): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  let areLeft = false;
  for (const name of names.filter((each) => DAMAGED.test(each))) {
    const path = join(folder, name);
    try {
      // The change time of a file is the time at which it got its name.
      const { ctimeMs } = await stat(path);
      if (ctimeMs <= now - DAMAGED_KEPT_MS) await unlink(path);
      else areLeft = true;
    } catch {
      areLeft = true;
    }
  }
  return areLeft;
}

/** Returns whether a file contains acknowledged facts, which compaction drops. */
export function isStale(written: readonly JournalRecord[], { acknowledged }: ReadonlyJournalState): boolean {
  return written.some((record) => record.kind === 'fact' && record.sequence <= acknowledged);
}
