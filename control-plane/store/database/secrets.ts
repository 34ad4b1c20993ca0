// Generated keys that all instances share. The first instance creates them.
import { createHash, randomBytes } from 'node:crypto';
import type { Database } from './database.ts';

const SECRET_BYTES = 32;

/** Returns the secret of this name; creates it on the first call. */
export async function secretOf(
  db: Database,
  name: 'payment_challenge' | 'bus' | 'device_id',
): Promise<string> {
  const value = randomBytes(SECRET_BYTES).toString('base64url');
  await db
    .insertInto('secrets')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const row = await db
    .selectFrom('secrets')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return row.value;
}

/** Names a database by its secret, which it does not give away: 12 hexadecimal digits. */
export const databaseIdOf = (secret: string): string =>
  createHash('sha256').update(`database of ${secret}`).digest('hex').slice(0, 12);

/** Drops that secret from a copy of a database, in its transaction: the two would answer for each other. The first use makes a new one. */
export async function dropIdentity(db: Database): Promise<void> {
  await db.deleteFrom('secrets').where('name', '=', 'bus').execute();
}
