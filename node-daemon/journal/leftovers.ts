// Removes texts that are not needed any more: in the journal until it is compacted, in copies that a kill cut off, and in damaged journals
// that were kept aside.
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadonlyJournalState } from './journal-state.ts';
import type { JournalRecord } from './record.ts';

/** Of files that are about to become the journal: beside appends that go on, and instead of them. */
export const COMPACT_SUFFIX = 'compact';
export const NEW_SUFFIX = 'new';

/** How long a damaged journal is kept: the operator has a week to examine it. */
export const ASIDE_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

const ASIDE = /^journal\.corrupt-[0-9a-f]+\.log$/;

/** Removes copies that never became the journal. No compaction may run meanwhile. Never rejects. */
export async function removeCutOff(path: string): Promise<void> {
  for (const suffix of [COMPACT_SUFFIX, NEW_SUFFIX]) await unlink(`${path}.${suffix}`).catch(() => undefined);
}

/** Removes damaged journals whose time is over; resolves with whether others are left. Never rejects. */
export async function removeOldAsides(folder: string, now: number): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  let areLeft = false;
  for (const name of names.filter((each) => ASIDE.test(each))) {
    const path = join(folder, name);
    try {
      // A file that got its name has changed then.
      const { ctimeMs } = await stat(path);
      if (ctimeMs <= now - ASIDE_KEPT_MS) await unlink(path);
      else areLeft = true;
    } catch {
      areLeft = true;
    }
  }
  return areLeft;
}

/**
 * Whether a file holds records that compaction leaves out: acknowledged facts, and digests without a key, which are missing in `records`.
 */
export function isStale(
  written: readonly JournalRecord[],
  records: readonly JournalRecord[],
  { acknowledged }: ReadonlyJournalState,
): boolean {
  return records.some(
    (record, index) =>
      (record.kind === 'fact' && record.sequence <= acknowledged) || record !== written[index],
  );
}
