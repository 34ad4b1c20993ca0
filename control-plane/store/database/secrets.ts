// Keys that all instances of the service share and nobody configures: made once, by whoever comes first.
import { randomBytes } from 'node:crypto';
import type { Database } from './database.ts';

const SECRET_BYTES = 32;

/** The secret of this name; always the same one. */
export async function secretOf(db: Database, name: 'payment_challenge'): Promise<string> {
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
