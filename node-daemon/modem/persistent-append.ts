// Appends what must get into the journal, however often the disk refuses it.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Journal } from '../journal/journal.ts';
import type { NewRecord } from '../journal/record.ts';

/** While the disk refuses what the modem has done. */
const RETRY_MS = 5_000;

/** What the append works on. */
export interface PersistentAppendParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How far it has come. Neither rejects. */
export interface PersistentAppended {
  /** Resolves when a kill cannot take it back, or when the journal is closed. */
  readonly written: Promise<void>;
  /** Resolves when it is durable, or after the first refusal: whoever waits need not wait for a new disk. */
  readonly told: Promise<void>;
  /** Resolves when it is durable, however often that was refused, or when the journal is closed. */
  readonly taken: Promise<void>;
}

/**
 * Appends records, again and again until the journal takes them or is closed. `isLazy`: nobody is in a hurry
 * for them to be durable.
 */
export function appendPersistently(
  parts: PersistentAppendParts,
  records: readonly NewRecord[],
  { isLazy = false }: { isLazy?: boolean } = {},
): PersistentAppended {
  const { journal, clock, log } = parts;
  const { written, durable } = isLazy ? journal.appendLazily(...records) : journal.appendInSteps(...records);
  const taken = durable.catch(async (error: unknown) => {
    if (journal.isClosed) return;
    log.error({ err: error, kind: records[0]?.kind }, 'a record is not in the journal yet');
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    await appendPersistently(parts, records).taken;
  });
  return { written: written.catch(() => taken), told: durable.catch(() => undefined), taken };
}
