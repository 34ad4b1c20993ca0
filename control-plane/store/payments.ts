// The payment ledger in the database: one unique row per authorization, states that only move forward.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { type Address, getAddress, type Hex } from 'viem';
import {
  type Applied,
  type ClaimResult,
  NumberMissing,
  type Payment,
  type PaymentLedger,
  type PaymentState,
  type TransferAuthorization,
} from '../payments/payment.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import { lockReservations, pickAvailable } from './number-pool.ts';
import { addPaymentEvent, movePayment } from './payment-events.ts';
import { extendOrCreate } from './subscriptions.ts';
import type { PaymentsTable } from './tables.ts';

/** More unfinished payments than this are finished in the next round. */
const UNFINISHED_MAX = 100;

/** A released authorization that somebody read may be used until it expires, and is looked for so much longer. */
const RELEASED_WATCH_S = 15 * 60;

/** Its money bought a year, or goes back to the payer. */
const IS_SPENT: ReadonlySet<PaymentState> = new Set(['applied', 'refunding', 'refunded']);

export function createPaymentLedger(db: Database): PaymentLedger {
  return {
    claim: (authorization, now) => db.transaction().execute((trx) => claim(trx, authorization, now)),

    async find(authorization) {
      const row = await db
        .selectFrom('payments')
        .select('state')
        .where((eb) => eb.and(keyOf(authorization)))
        .executeTakeFirst();
      return row?.state;
    },

    setInFlight: (id, transaction, now) =>
      movePayment(db, id, ['claimed', 'in_flight'], {
        state: 'in_flight',
        raw_transaction: transaction?.raw ?? null,
        transaction_hash: transaction?.hash ?? null,
        transaction_nonce: transaction?.nonce ?? null,
        updated_at: now,
      }),

    release: (id, failure, now) => end(db, id, ['claimed'], { state: 'released', failure, updated_at: now }),
    setReverted: (id, now) => end(db, id, ['in_flight'], { state: 'reverted', updated_at: now }),
    setVoid: (id, failure, now) =>
      end(db, id, ['in_flight', 'reverted', 'released'], { state: 'void', failure, updated_at: now }),

    async touch(id, now) {
      await db.updateTable('payments').set({ updated_at: now }).where('id', '=', id).execute();
    },

    apply: (id, transferHash, now) => db.transaction().execute((trx) => apply(trx, id, transferHash, now)),

    noteUnapplied: (id, transferHash, failure, now) =>
      db.transaction().execute(async (trx) => {
        const noted = await trx
          .updateTable('payments')
          .set({ transfer_hash: transferHash, failure })
          .where('id', '=', id)
          .where('state', 'in', ['in_flight', 'reverted', 'released'])
          .where('transfer_hash', 'is', null)
          .returning('state')
          .executeTakeFirst();
        if (noted === undefined) return;
        const event = { state: noted.state, transactionHash: transferHash, why: failure, at: now };
        await addPaymentEvent(trx, id, event);
      }),

    async unfinished(chainId, before) {
      const rows = await db
        .selectFrom('payments')
        .selectAll()
        .where('chain_id', '=', chainId)
        .where((eb) =>
          eb.or([
            eb('state', 'in', ['claimed', 'in_flight', 'reverted']),
            eb.and([
              eb('state', '=', 'released'),
              eb('valid_before', '>', String(Math.floor(before.getTime() / 1000 - RELEASED_WATCH_S))),
            ]),
          ]),
        )
        .where('updated_at', '<', before)
        .orderBy('updated_at')
        .limit(UNFINISHED_MAX)
        .execute();
      return rows.map(toPayment);
    },
  };
}

/** Payments by state; states without any are left out. */
export async function countPayments(db: Database): Promise<Map<PaymentState, number>> {
  const rows = await db
    .selectFrom('payments')
    .select(['state', sql<number>`count(*)::int`.as('count')])
    .groupBy('state')
    .execute();
  return new Map(rows.map(({ state, count }) => [state, count]));
}

/** Payments that may be acted on, by chain. */
export async function countOpenPayments(db: Database): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('payments')
    .select(['chain_id', sql<number>`count(*)::int`.as('count')])
    .where('state', 'in', ['claimed', 'in_flight', 'reverted'])
    .groupBy('chain_id')
    .execute();
  return new Map(rows.map(({ chain_id, count }) => [Number(chain_id), count]));
}

/** Moves a payment out of `from` and gives its number back. */
async function end(
  db: Database,
  id: string,
  from: PaymentState[],
  change: { state: PaymentState; failure?: string; updated_at: Date },
): Promise<void> {
  await movePayment(db, id, from, { ...change, reserved_number: null });
}

async function claim(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  now: Date,
): Promise<ClaimResult> {
  await lockReservations(trx);
  const key = keyOf(authorization);
  const known = await trx
    .selectFrom('payments')
    .select(['id', 'state'])
    .where((eb) => eb.and(key))
    .executeTakeFirst();
  if (known !== undefined && known.state !== 'released') return { kind: 'taken', state: known.state };

  const holder = await lockHolder(trx, key.payer);
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
    transfer_hash: null,
    failure: null,
    updated_at: now,
  };
  const row = await trx
    .insertInto('payments')
    .values({ ...claimed, id: `pay_${randomBytes(12).toString('hex')}`, created_at: now })
    .onConflict((conflict) => conflict.columns(['chain_id', 'asset', 'payer', 'nonce']).doUpdateSet(claimed))
    .returningAll()
    .executeTakeFirstOrThrow();
  const why = number === undefined ? null : `${number} reserved`;
  await addPaymentEvent(trx, row.id, { state: 'claimed', transactionHash: null, why, at: now });
  return { kind: 'claimed', payment: toPayment(row) };
}

async function apply(
  trx: DatabaseTransaction,
  id: string,
  transferHash: Hex,
  now: Date,
): Promise<Applied | undefined> {
  const payment = await trx
    .selectFrom('payments')
    .select(['payer', 'reserved_number', 'state'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (IS_SPENT.has(payment.state)) return undefined;
  const number = payment.reserved_number ?? (await numberFor(trx, payment.payer, now));
  const applied = await extendOrCreate(trx, { wallet: payment.payer, number, now });
  await trx
    .updateTable('payments')
    .set({
      state: 'applied',
      reserved_number: null,
      subscription_id: applied.subscription.id,
      transfer_hash: transferHash,
      failure: null,
      updated_at: now,
    })
    .where('id', '=', id)
    .execute();
  const { number: given, expiresAt } = applied.subscription;
  const why = `${given} until ${expiresAt.toISOString()}`;
  await addPaymentEvent(trx, id, { state: 'applied', transactionHash: transferHash, why, at: now });
  return applied;
}

/** The number of a wallet that has none, where the reserved one was given back. */
async function numberFor(trx: DatabaseTransaction, payer: string, now: Date): Promise<string | undefined> {
  if ((await lockHolder(trx, payer)) !== undefined) return undefined;
  await lockReservations(trx);
  const number = await pickAvailable(trx, now);
  if (number === undefined) throw new NumberMissing('the money came and no number is free');
  return number;
}

/** The subscription of a wallet, which is not purged until this transaction ends. */
async function lockHolder(trx: DatabaseTransaction, payer: string): Promise<{ id: string } | undefined> {
  return trx
    .selectFrom('subscriptions')
    .select('id')
    .where('wallet', '=', payer)
    .forNoKeyUpdate()
    .executeTakeFirst();
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
    transferHash: (row.transfer_hash ?? undefined) as Hex | undefined,
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
