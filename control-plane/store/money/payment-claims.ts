// Claims an authorization: once, and only while its payer has no other open payment and may pay for another year.
import { randomBytes } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import { extendedExpiry } from '../../domain/subscription.ts';
import type { TransferAuthorization } from '../../domain/transfer-authorization.ts';
import type { Claim, ClaimResult, ClaimTerms, KnownPayment, PaymentState } from '../../payments/payment.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { PaymentsTable } from '../database/payment-tables.ts';
import { lockReservations, pickAvailable } from '../fleet/number-pool.ts';
import { openPaymentOf, payerRefusals } from './payers.ts';
import { addPaymentEvent, movePayment } from './payment-events.ts';
import { keyOf, toPayment } from './payment-rows.ts';
import { hashIdentifier, isIdentifierUsed } from './repeated-payments.ts';

export const NEVER_CHECKED = { checks: 0, next_check_at: null, final_at: null } as const;

export async function findKnown(
  db: Database | DatabaseTransaction,
  authorization: TransferAuthorization,
): Promise<KnownPayment | undefined> {
  const row = await db
    .selectFrom('payments')
    .select(['state', 'transaction_hash'])
    .where((eb) => eb.and(keyOf(authorization)))
    .executeTakeFirst();
  return row && knownOf(row);
}

const knownOf = (row: Pick<PaymentsTable, 'state' | 'transaction_hash'>): KnownPayment => ({
  state: row.state,
  isSigned: row.transaction_hash !== null,
});

/** A nonce is unique for a token only: one that may have moved money, or may still, comes first. */
export async function findNamed(
  db: Database,
  { from, nonce }: Pick<TransferAuthorization, 'from' | 'nonce'>,
): Promise<KnownPayment | undefined> {
  const row = await db
    .selectFrom('payments')
    .select(['state', 'transaction_hash'])
    .where('payer', '=', from.toLowerCase())
    .where('nonce', '=', nonce.toLowerCase())
    .orderBy(sql`state in ('released', 'void')`)
    .limit(1)
    .executeTakeFirst();
  return row && knownOf(row);
}

/** One claim at a time: each holds the lock of the reservations until it ends. */
export async function claim(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  { now, yearsAheadMax, runsCode, identifier }: ClaimTerms,
): Promise<ClaimResult> {
  await lockReservations(trx);
  const known = await findKnown(trx, authorization);
  if (known !== undefined && known.state !== 'released') return { kind: 'taken', known };

  const { payer } = keyOf(authorization);
  const identifierHash = identifier === undefined ? null : hashIdentifier(identifier);
  if (identifierHash !== null && (await isIdentifierUsed(trx, authorization, identifierHash)))
    return { kind: 'identifier_reused' };
  const open = await openPaymentOf(trx, payer, now);
  if (open !== undefined) return { kind: 'payer_busy', ...open };
  const refused = await payerRefusals(trx, payer, { runsCode, now });
  if (refused !== undefined) return { kind: 'refused_for_a_while', ...refused };

  const holder = await lockHolder(trx, payer);
  if (holder !== undefined) {
    const { account_chain_id: chainId, expires_at: expiresAt } = holder;
    if (authorization.signedBy === 'account' && chainId !== authorization.chainId) {
      return { kind: 'foreign_account', chainId: chainId ?? undefined };
    }
    if (extendedExpiry(expiresAt, now) > yearsFrom(now, yearsAheadMax))
      return { kind: 'paid_ahead', expiresAt };
    return claimed(trx, authorization, {
      state: 'claimed',
      number: undefined,
      runsCode,
      identifierHash,
      now,
    });
  }
  const number = await pickAvailable(trx, now);
  if (number === undefined) return { kind: 'pool_exhausted' };
  return claimed(trx, authorization, { state: 'claimed', number, runsCode, identifierHash, now });
}

/** A claim whose answer was lost may still be in its commit, and holds the lock of the reservations until it ends. */
export async function release(
  trx: DatabaseTransaction,
  { authorization, updatedAt }: Claim,
  failure: string,
  now: Date,
): Promise<boolean> {
  await lockReservations(trx);
  const claim = await trx
    .selectFrom('payments')
    .select('id')
    .where((eb) => eb.and(keyOf(authorization)))
    .where('updated_at', '=', updatedAt)
    .executeTakeFirst();
  const change = { state: 'released', failure, reserved_number: null, updated_at: now } as const;
  return claim !== undefined && movePayment(trx, claim.id, ['claimed'], change);
}

/** No number is reserved: the payer may have moved no money at all. */
export async function noteUsed(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  now: Date,
): Promise<ClaimResult> {
  await lockReservations(trx);
  const known = await findKnown(trx, authorization);
  if (known !== undefined && known.state !== 'released') return { kind: 'taken', known };
  return claimed(trx, authorization, {
    state: 'in_flight',
    number: undefined,
    runsCode: false,
    identifierHash: null,
    now,
  });
}

async function claimed(
  trx: DatabaseTransaction,
  authorization: TransferAuthorization,
  {
    state,
    number,
    runsCode,
    identifierHash,
    now,
  }: Pick<ClaimTerms, 'runsCode' | 'now'> & {
    state: PaymentState;
    number: string | undefined;
    identifierHash: Buffer | null;
  },
): Promise<ClaimResult> {
  const row: Omit<Insertable<PaymentsTable>, 'id' | 'created_at'> = {
    ...keyOf(authorization),
    pay_to: authorization.to.toLowerCase(),
    value: String(authorization.value),
    valid_after: String(authorization.validAfter),
    valid_before: String(authorization.validBefore),
    signature: authorization.signature,
    signed_by: authorization.signedBy,
    runs_code: runsCode,
    identifier_hash: identifierHash,
    state,
    reserved_number: number ?? null,
    raw_transaction: null,
    transaction_hash: null,
    transaction_nonce: null,
    transaction_sender: null,
    subscription_id: null,
    transfer_hash: null,
    failure: null,
    ...NEVER_CHECKED,
    updated_at: now,
  };
  const stored = await trx
    .insertInto('payments')
    .values({ ...row, id: `pay_${randomBytes(12).toString('hex')}`, created_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'asset', 'payer', 'nonce'])
        .doUpdateSet(row)
        .where('payments.state', '=', 'released'),
    )
    .returningAll()
    .executeTakeFirst();
  if (stored === undefined) {
    // An operator began to refund it since it was read: that needs no lock of the reservations.
    const known = await findKnown(trx, authorization);
    if (known === undefined) throw new Error('a payment is neither stored nor known');
    return { kind: 'taken', known };
  }
  const why = number === undefined ? null : `${number} reserved`;
  await addPaymentEvent(trx, stored.id, { state, transactionHash: null, why, at: now });
  return { kind: 'claimed', payment: toPayment(stored) };
}

/** The subscription of a wallet; it is not purged before this transaction ends. */
export async function lockHolder(
  trx: DatabaseTransaction,
  payer: string,
): Promise<{ id: string; expires_at: Date; account_chain_id: number | null } | undefined> {
  return trx
    .selectFrom('subscriptions')
    .select(['id', 'expires_at', 'account_chain_id'])
    .where('wallet', '=', payer)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

function yearsFrom(now: Date, years: number): Date {
  let end = now;
  for (let year = 0; year < years; year += 1) end = extendedExpiry(end, now);
  return end;
}
