// The receipts of a subscription: events, and the chain of their statements.
import { createHash } from 'node:crypto';
import { type Selectable, sql } from 'kysely';
import type { Receipt } from '#shared/api/receipts.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { PublicJwk, ReceiptsTable } from '../database/receipt-tables.ts';

/** An event that gets its place in the chain. */
export interface ReceiptEvent extends Pick<Selectable<ReceiptsTable>, 'kind' | 'at' | 'facts'> {
  sequence: number;
  /** Hash of the receipt before it; null for the first. */
  previous: string | null;
}

/** Names a receipt: base64url of the SHA-256 of its compact JWS. */
const hashOf = (jws: string): string => createHash('sha256').update(jws).digest('base64url');

/**
 * Appends up to `max` events to the chain, in the order in which they were stored. One instance at a time appends, so that the chain has
 * one order; another one returns at once. Rejects with the error of `sign`, and appends nothing.
 */
export async function appendReceipts(
  db: Database,
  { subscriptionId, max }: { subscriptionId: string; max: number },
  sign: (event: ReceiptEvent) => Promise<string>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await lockChain(trx, subscriptionId))) return;
    let { sequence, hash: previous } = await headOf(trx, subscriptionId);
    const events = await trx
      .selectFrom('receipts')
      .select(['position', 'kind', 'at', 'facts'])
      .where('subscription_id', '=', subscriptionId)
      .where('sequence', 'is', null)
      .orderBy('position')
      .limit(max)
      // A node may correct the end of a call meanwhile.
      .forUpdate()
      .execute();
    const signed: Array<{ position: number; sequence: number; jws: string; hash: string }> = [];
    for (const { position, ...event } of events) {
      sequence += 1;
      const jws = await sign({ ...event, sequence, previous });
      previous = hashOf(jws);
      signed.push({ position, sequence, jws, hash: previous });
    }
    if (signed.length === 0) return;
    await sql`
      update receipts set sequence = signed.sequence, jws = signed.jws, hash = signed.hash
      from unnest(${signed.map(({ position }) => position)}::bigint[], ${signed.map((each) => each.sequence)}::integer[],
        ${signed.map(({ jws }) => jws)}::text[], ${signed.map(({ hash }) => hash)}::text[])
        as signed (position, sequence, jws, hash)
      where receipts.position = signed.position`.execute(trx);
  });
}

/** False if another transaction appends now. */
async function lockChain(trx: DatabaseTransaction, subscriptionId: string): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`receipts of ${subscriptionId}`}, 0)) as locked`.execute(
    trx,
  );
  return rows[0]?.locked === true;
}

async function headOf(
  trx: DatabaseTransaction,
  subscriptionId: string,
): Promise<{ sequence: number; hash: string | null }> {
  const head = await trx
    .selectFrom('receipts')
    .select(['sequence', 'hash'])
    .where('subscription_id', '=', subscriptionId)
    .where('sequence', 'is not', null)
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { sequence: head?.sequence ?? 0, hash: head?.hash ?? null };
}

/** Whether events wait for their place in the chain. */
export async function hasUnsigned(db: Database, subscriptionId: string): Promise<boolean> {
  const row = await db
    .selectFrom('receipts')
    .select('position')
    .where('subscription_id', '=', subscriptionId)
    .where('sequence', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Receipts after this one in the chain, in order. The salt goes with its message. */
export async function listReceipts(
  db: Database,
  { subscriptionId, after, limit }: { subscriptionId: string; after: number; limit: number },
): Promise<Receipt[]> {
  const { rows } = await sql<Receipt>`
    select receipts.sequence, receipts.jws, messages.receipt_salt as salt
    from receipts left join messages on receipts.kind in ('text_received', 'text_sent')
      and messages.id = (receipts.facts ->> 'message')::bigint and messages.subscription_id = receipts.subscription_id
    where receipts.subscription_id = ${subscriptionId} and receipts.sequence > ${after}::integer
    order by receipts.sequence
    limit ${limit}`.execute(db);
  return rows;
}

/** Adds a public key. The same one again changes nothing. */
export async function addReceiptKey(db: Database, id: string, jwk: PublicJwk, now: Date): Promise<void> {
  await db
    .insertInto('receipt_keys')
    .values({ id, jwk: JSON.stringify(jwk), created_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** All keys, former ones too, oldest first: a receipt of any of them can be verified as long as the service exists. */
export async function listReceiptKeys(db: Database): Promise<Array<{ id: string; jwk: PublicJwk }>> {
  return db.selectFrom('receipt_keys').select(['id', 'jwk']).orderBy('created_at').orderBy('id').execute();
}
