// The public keys of receipts, former ones too: a receipt of any of them can be verified as long as the service exists.
import type { Database } from '../database/database.ts';
import type { PublicJwk } from '../database/receipt-tables.ts';

/** Adds a key. The same one again changes nothing. */
export async function addReceiptKey(db: Database, id: string, jwk: PublicJwk, now: Date): Promise<void> {
  await db
    .insertInto('receipt_keys')
    .values({ id, jwk: JSON.stringify(jwk), created_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** All keys, oldest first. */
export async function listReceiptKeys(db: Database): Promise<Array<{ id: string; jwk: PublicJwk }>> {
  return db.selectFrom('receipt_keys').select(['id', 'jwk']).orderBy('created_at').orderBy('id').execute();
}
