// Appends records that must not be lost, and repeats this as often as the disk refuses them.
import type { Clock } from '#shared/clock.ts';
import type { Logger } from '#shared/log.ts';
import type { Journal } from './journal.ts';
import { InvalidFactError, type NewRecord } from './record.ts';

/** Interval of retries while the disk refuses records of a modem's work. */
const RETRY_MS = 5_000;

/** The parts that the append uses. */
export interface PersistentAppendParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The steps of an append. None of them rejects. */
export interface PersistentAppended {
  /** Resolves when the records survive a kill, or when the journal is closed. */
  readonly written: Promise<void>;
  /** Resolves when the records are durable, or after the first refusal, so that a caller does not have to wait for a new disk. */
  readonly tried: Promise<void>;
  /** Resolves when the records are durable, after any number of refusals, or when the journal is closed. */
  readonly taken: Promise<void>;
}

/** Appends records, and repeats this until the journal accepts them or is closed. `isLazy`: the records can wait for the disk. */
export function appendPersistently(
  parts: PersistentAppendParts,
  records: readonly NewRecord[],
  { isLazy = false }: { isLazy?: boolean } = {},
): PersistentAppended {
  const { journal, log } = parts;
  const { written, durable } = isLazy ? journal.appendLazily(...records) : journal.appendInSteps(...records);
  const taken = durable.catch(async (error: Error) => {
    if (journal.isClosed) return;
    if (error instanceof InvalidFactError) return log.error({ err: error }, 'a fact is lost');
    const fields = { reason: reasonOf(error), kind: records[0]?.kind };
    log.error(fields, 'the journal refused a record: retrying until it accepts it');
    await retry(parts, records);
  });
  return { written: written.catch(() => taken), tried: durable.catch(() => undefined), taken };
}

async function retry(
  { journal, clock }: PersistentAppendParts,
  records: readonly NewRecord[],
): Promise<void> {
  for (let isTaken = false; !isTaken && !journal.isClosed; ) {
    await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve));
    isTaken = await journal.append(...records).then(
      () => true,
      () => false,
    );
  }
}

/** Returns the reason of the journal's refusal, in one line. */
export function reasonOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
