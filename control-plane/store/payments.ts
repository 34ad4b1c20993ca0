// The payment ledger in the database: one unique row per authorization, states that only move forward.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Address, getAddress, type Hex } from 'viem';
import type {
  Applied,
  ClaimResult,
  Payment,
  PaymentLedger,
  TransferAuthorization,
} from '../payments/payment.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import { pickAvailable } from './number-pool.ts';
import { extendOrCreate } from './subscriptions.ts';
import type { PaymentsTable } from './tables.ts';

/** Reservations take turns: a free number is seen by one at a time. Any constant of our own will do. */
const RESERVATION_LOCK = 7_402_001;

/** More unfinished payments than this are finished in the next round. */
const UNFINISHED_MAX = 100;

export function createPaymentLedger(db: Database): PaymentLedger {
  return {
    claim: (authorization, now) => db.transaction().execute((trx) => claim(trx, authorization, now)),

    async storeTransaction(id, transaction, now) {
      const row = await db
        .updateTable('payments')
        .set({
          state: 'signed',
          raw_transaction: transaction.raw,
          transaction_hash: transaction.hash,
          transaction_nonce: transaction.nonce,
          updated_at: now,
        })
        .where('id', '=', id)
        .where('state', 'in', ['claimed', 'signed'])
        .returning('id')
        .executeTakeFirst();
      return row !== undefined;
    },

    async release(id, failure, now) {
      await db
        .updateTable('payments')
        .set({ state: 'released', reserved_number: null, failure, updated_at: now })
        .where('id', '=', id)
        .where('state', 'in', ['claimed', 'signed'])
        .execute();
    },

    apply: (id, now) => db.transaction().execute((trx) => apply(trx, id, now)),

    async unfinished(before) {
      const rows = await db
        .selectFrom('payments')
        .selectAll()
        .where('state', 'in', ['claimed', 'signed'])
        .where('updated_at', '<', before)
        .orderBy('updated_at')
        .limit(UNFINISHED_MAX)
        .execute();
      return rows.map(toPayment);
    },
  };
}

async function claim(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  now: Date,
): Promise<ClaimResult> {
  await sql`select pg_advisory_xact_lock(${RESERVATION_LOCK})`.execute(trx);
  const key = keyOf(authorization);
  const known = await trx
    .selectFrom('payments')
    .select(['id', 'state'])
    .where((eb) => eb.and(key))
    .executeTakeFirst();
  if (known !== undefined && known.state !== 'released') return { kind: 'taken', state: known.state };

  const holder = await trx
    .selectFrom('subscriptions')
    .select('id')
    .where('wallet', '=', key.payer)
    .executeTakeFirst();
  const number = holder === undefined ? await pickAvailable(trx, now) : undefined;
  if (holder === undefined && number === undefined) return { kind: 'pool_exhausted' };

  const claimed = {
    ...key,
    pay_to: authorization.to.toLowerCase(),
    value: String(authorization.value),
    valid_after: String(authorization.validAfter),
    valid_before: String(authorization.validBefore),
    signature: authorization.signature,
    state: 'claimed' as const,
    reserved_number: number ?? null,
    raw_transaction: null,
    transaction_hash: null,
    transaction_nonce: null,
    failure: null,
    updated_at: now,
  };
  const row = await trx
    .insertInto('payments')
    .values({ ...claimed, id: `pay_${randomBytes(12).toString('hex')}`, created_at: now })
    .onConflict((conflict) => conflict.columns(['chain_id', 'asset', 'payer', 'nonce']).doUpdateSet(claimed))
    .returningAll()
    .executeTakeFirstOrThrow();
  return { kind: 'claimed', payment: toPayment(row) };
}

async function apply(trx: DatabaseTransaction, id: string, now: Date): Promise<Applied | undefined> {
  const payment = await trx
    .selectFrom('payments')
    .select(['payer', 'reserved_number', 'state'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (payment.state === 'applied') return undefined;
  const applied = await extendOrCreate(trx, {
    wallet: payment.payer,
    number: payment.reserved_number ?? undefined,
    now,
  });
  await trx
    .updateTable('payments')
    .set({
      state: 'applied',
      reserved_number: null,
      subscription_id: applied.subscription.id,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
  return applied;
}

function keyOf(authorization: TransferAuthorization) {
  return {
    chain_id: authorization.chainId,
    asset: authorization.asset.toLowerCase(),
    payer: authorization.from.toLowerCase(),
    nonce: authorization.nonce.toLowerCase(),
  };
}

function toPayment(row: PaymentsTable): Payment {
  const { raw_transaction: raw, transaction_hash: hash, transaction_nonce: nonce } = row;
  return {
    id: row.id,
    state: row.state,
    updatedAt: row.updated_at,
    transaction:
      raw !== null && hash !== null && nonce !== null
        ? { raw: raw as Hex, hash: hash as Hex, nonce }
        : undefined,
    authorization: {
      chainId: row.chain_id,
      asset: getAddress(row.asset),
      from: getAddress(row.payer),
      to: getAddress(row.pay_to as Address),
      value: BigInt(row.value),
      validAfter: BigInt(row.valid_after),
      validBefore: BigInt(row.valid_before),
      nonce: row.nonce as Hex,
      signature: row.signature as Hex,
    },
  };
}
