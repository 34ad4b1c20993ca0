// Numbers that can be sold. They and their slot are in service, they are admitted, and they have no subscriber and no reservation. Their
// SIM is on the network, in a node that can write its journal, and was swept since the last holder, whose data is deleted.
import { type ExpressionBuilder, sql } from 'kysely';
import { isSellable } from '../../domain/sellable-number.ts';
import type { Database, DatabaseTransaction } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import { isSwept } from './holdings.ts';
import { withdrawAdmission } from './number-admission.ts';
import { HAS_NO_JOURNAL } from './slots.ts';

/** Any constant that no other lock uses. */
const RESERVATION_LOCK = 7_402_001;

/** Reservations take turns until the transaction ends: only one at a time sees a free number. */
export async function lockReservations(trx: DatabaseTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${RESERVATION_LOCK})`.execute(trx);
}

export async function countAvailable(db: Database, now: Date): Promise<number> {
  const row = await db
    .selectFrom('numbers')
    .select(sql<number>`count(*)::int`.as('available'))
    .where((eb) => isAvailable(eb, now))
    .executeTakeFirstOrThrow();
  return row.available;
}

/** Picks a free number and locks its row until the transaction ends; concurrent callers get others. */
export async function pickAvailable(trx: DatabaseTransaction, now: Date): Promise<string | undefined> {
  for (;;) {
    const number = await findAvailable(trx, now);
    if (number === undefined || isSellable(number)) return number;
    // The row is older than the check of numbers.
    await withdrawAdmission(trx, number, now);
  }
}

async function findAvailable(trx: DatabaseTransaction, now: Date): Promise<string | undefined> {
  const row = await trx
    .selectFrom('numbers')
    .select('number')
    .where((eb) => isAvailable(eb, now))
    .orderBy('number')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row?.number;
}

/** `evenUnswept`: includes numbers that lack only the sweep of their SIM. */
export function isAvailable(
  eb: ExpressionBuilder<Tables, 'numbers'>,
  now: Date,
  { evenUnswept = false } = {},
) {
  const isTaken = eb.exists(
    eb.selectFrom('subscriptions').select('id').whereRef('subscriptions.number', '=', 'numbers.number'),
  );
  const isReserved = eb.exists(
    eb.selectFrom('payments').select('id').whereRef('payments.reserved_number', '=', 'numbers.number'),
  );
  const isOnline = eb.exists(
    eb
      .selectFrom('sims')
      .innerJoin('nodes', 'nodes.id', 'sims.node_id')
      .select('sims.iccid')
      .whereRef('sims.iccid', '=', 'numbers.iccid')
      .where('sims.state', '=', 'registered')
      .where('nodes.link_alive_until', '>', now)
      .where(sql<boolean>`not ${HAS_NO_JOURNAL}`)
      .$if(!evenUnswept, (sims) => sims.where(isSwept))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('slot_service')
              .select('slot_service.slot')
              .whereRef('slot_service.node_id', '=', 'sims.node_id')
              .whereRef('slot_service.slot', '=', 'sims.slot')
              .where('slot_service.out_of_service_at', 'is not', null),
          ),
        ),
      ),
  );
  const isInService = eb.and([
    eb('out_of_service_at', 'is', null),
    eb('retired_at', 'is', null),
    eb('unadmitted_since', 'is', null),
    eb.or([eb('quarantined_until', 'is', null), eb('quarantined_until', '<=', now)]),
  ]);
  return eb.and([isInService, eb.not(isTaken), eb.not(isReserved), isOnline]);
}
