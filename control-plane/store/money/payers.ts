// Limits that a payer's other payments set for the next one: only one may be open at a time, and account code that rejects transfers costs
// the service gas.
import { sql } from 'kysely';
import type { ClaimTerms } from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import { OPEN_STATES } from './payment-rows.ts';

/** A payer with an open payment may ask again after this. */
const RETRY_SECONDS = 10;

/** Anyone may have sent it in the last block before its end: two rounds of the reconciler have seen the chain after that. */
const EXPIRY_MARGIN_SECONDS = 130;

/** Transfers of one payer that may be mined and rejected within a day. */
const REFUSALS_MAX = 3;
const REFUSALS_MS = 24 * 60 * 60 * 1000;

/**
 * The same for all payers with code together, within an hour, including those under way: addresses cost nothing. The limit bounds the
 * relayer's loss to fraud, and is high enough that a few fraudsters cannot block honest payers.
 */
const CODE_REFUSALS_MAX = 100;
const CODE_REFUSALS_MS = 60 * 60 * 1000;

/**
 * The payment of a wallet that may still move money, and when to ask again. A rejected payment moves none after its authorization expired,
 * but may have moved it just before.
 */
export async function openPaymentOf(
  db: Database | DatabaseTransaction,
  wallet: string,
  now: Date,
): Promise<{ retryAfterSeconds: number } | undefined> {
  const nowSeconds = Math.floor(now.getTime() / 1000);
  const rows = await db
    .selectFrom('payments')
    .select(['state', 'valid_before', 'transfer_hash'])
    .where('payer', '=', wallet.toLowerCase())
    .where('state', 'in', OPEN_STATES)
    .where((eb) =>
      eb.or([
        eb('state', '<>', 'reverted'),
        eb('transfer_hash', 'is not', null),
        eb('valid_before', '>', String(nowSeconds - EXPIRY_MARGIN_SECONDS)),
      ]),
    )
    .execute();
  if (rows.length === 0) return undefined;
  const waits = rows.map(({ state, transfer_hash: came, valid_before: end }) =>
    state === 'reverted' && came === null ? Number(end) + EXPIRY_MARGIN_SECONDS - nowSeconds : RETRY_SECONDS,
  );
  return { retryAfterSeconds: Math.max(RETRY_SECONDS, ...waits) };
}

/** The chain of the account that paid last, for a wallet without a subscription; undefined if a key paid, or if it never paid. */
export async function payingAccountChain(db: Database, wallet: string): Promise<number | undefined> {
  const last = await db
    .selectFrom('payments')
    .select(['chain_id', 'signed_by'])
    .where('payer', '=', wallet.toLowerCase())
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.signed_by === 'account' ? last.chain_id : undefined;
}

/** Set while too many transfers of this payer, or of payers with code, were mined and rejected recently. */
export async function payerRefusals(
  db: DatabaseTransaction,
  payer: string,
  { runsCode, now }: Pick<ClaimTerms, 'runsCode' | 'now'>,
): Promise<{ retryAfterSeconds: number; isOfAll: boolean } | undefined> {
  const ofPayer = await secondsUntilFewer(db, { payer, withinMs: REFUSALS_MS, max: REFUSALS_MAX, now });
  if (ofPayer !== undefined) return { retryAfterSeconds: ofPayer, isOfAll: false };
  if (!runsCode) return undefined;
  const max = CODE_REFUSALS_MAX - (await countUnderWay(db));
  if (max <= 0) return { retryAfterSeconds: RETRY_SECONDS, isOfAll: true };
  const ofAll = await secondsUntilFewer(db, { withinMs: CODE_REFUSALS_MS, max, now });
  return ofAll === undefined ? undefined : { retryAfterSeconds: ofAll, isOfAll: true };
}

/** Transfers that run code of their payers and may still be rejected. */
async function countUnderWay(db: DatabaseTransaction): Promise<number> {
  const { count } = await db
    .selectFrom('payments')
    .select(sql<number>`count(*)::int`.as('count'))
    .where('runs_code', '=', true)
    .where('state', 'in', ['claimed', 'in_flight'])
    .executeTakeFirstOrThrow();
  return count;
}

/** Seconds until there are fewer than `max` rejections of a payer, or of all payers with code; undefined if there are fewer now. */
async function secondsUntilFewer(
  db: DatabaseTransaction,
  { payer, withinMs, max, now }: { payer?: string; withinMs: number; max: number; now: Date },
): Promise<number | undefined> {
  const rows = await db
    .selectFrom('payment_events')
    .innerJoin('payments', 'payments.id', 'payment_events.payment_id')
    .select('payment_events.at')
    .where('payment_events.state', '=', 'reverted')
    .where('payments.transaction_hash', 'is not', null)
    .where('payment_events.at', '>', new Date(now.getTime() - withinMs))
    .$if(payer !== undefined, (query) => query.where('payments.payer', '=', payer ?? ''))
    .$if(payer === undefined, (query) => query.where('payments.runs_code', '=', true))
    .orderBy('payment_events.at', 'desc')
    .limit(max)
    .execute();
  const oldest = rows[max - 1];
  return oldest && Math.max(1, Math.ceil((oldest.at.getTime() + withinMs - now.getTime()) / 1000));
}
