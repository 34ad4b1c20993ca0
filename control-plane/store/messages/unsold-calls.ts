// Calls without a subscription: to numbers that are not sold, and of probes. Operators need them for a while.
import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import { deleteChosen, inBatches } from '../database/lists.ts';

/** Calls of each SIM. A node can invent any number of them. */
const UNSOLD_MAX = 500;

/** Deletes the oldest ones of a SIM, so that one more is within the limit. */
export async function makeRoomForUnsold(db: Database, iccid: string): Promise<void> {
  await sql`
    delete from calls where id in (
      select id from calls where iccid = ${iccid} and subscription_id is null and state = 'ended'
      order by position desc offset ${UNSOLD_MAX - 1}
    )`.execute(db);
}

/** Deletes those that began before `before`. */
export async function deleteUnsoldCalls(db: Database, before: Date): Promise<void> {
  await inBatches((limit) =>
    deleteChosen(
      db,
      { table: 'calls', key: 'id' },
      sql`select id from calls where subscription_id is null and started_at < ${before} and state = 'ended'
        order by started_at limit ${limit}`,
    ),
  );
}
