// Records when the pool stops being empty. It is in the database, so that all instances count the same openings, across restarts.
import type { Selectable } from 'kysely';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { PoolTable } from '../database/tables.ts';
import { countAvailable } from './number-pool.ts';

interface PoolState {
  isOpen: boolean;
  /** How often it has opened. */
  opening: number;
  /** It was recorded as empty until now. */
  hasOpened: boolean;
}

/** Checks whether any number is available, and records the result. */
export async function notePool(db: Database, now: Date): Promise<PoolState> {
  const noted = await readPool(db);
  if ((await countAvailable(db, now)) > 0 === noted.is_open) return stateOf(noted);
  return db.transaction().execute(async (trx) => {
    // Another instance may have recorded it first; the earlier count is old.
    const locked = await readPool(trx, { isLocked: true });
    const isOpen = (await countAvailable(trx, now)) > 0;
    if (isOpen === locked.is_open) return stateOf(locked);
    const changed = await trx
      .updateTable('pool')
      .set((eb) => ({ is_open: isOpen, opening: isOpen ? eb('opening', '+', 1) : eb.ref('opening') }))
      .returning(['is_open', 'opening'])
      .executeTakeFirstOrThrow();
    return { ...stateOf(changed), hasOpened: isOpen };
  });
}

function readPool(
  db: Database | DatabaseTransaction,
  { isLocked = false } = {},
): Promise<Selectable<PoolTable>> {
  const query = db.selectFrom('pool').select(['is_open', 'opening']);
  return (isLocked ? query.forUpdate() : query).executeTakeFirstOrThrow();
}

const stateOf = ({ is_open: isOpen, opening }: Selectable<PoolTable>): PoolState => ({
  isOpen,
  opening,
  hasOpened: false,
});
